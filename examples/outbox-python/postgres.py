"""Publishes an event in the transaction that writes an order; Posthorn's dispatcher delivers it (spec/outbox.md)."""

import json
import os
import secrets
from datetime import datetime, timezone

import psycopg2

PUBLISH = """
with written as (
  insert into posthorn.event (public_id, tenant, source, type, key, content_type, event_at, body)
  values (%(id)s, 'default', 'shop', %(type)s, %(key)s, 'application/json', %(at)s, %(body)s)
  returning id, tenant
)
insert into posthorn.stage (tenant, event_id) select tenant, id from written
"""


def publish(cursor, type, key, data):
    at = datetime.now(timezone.utc)
    timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = json.dumps({"type": type, "timestamp": timestamp, "data": data}).encode()
    event = {"id": "evt_" + secrets.token_hex(16), "type": type, "key": key, "at": at, "body": body}
    cursor.execute(PUBLISH, event)
    return event["id"]


def place_order(connection, number, customer, fails=False):
    # Leaving the block commits both the order and the event; an exception rolls both back.
    with connection, connection.cursor() as cursor:
        cursor.execute("insert into orders (number, customer) values (%s, %s)", (number, customer))
        id = publish(cursor, "order.placed", customer, {"number": number})
        if fails:
            raise RuntimeError("the card was declined")
    return id


if __name__ == "__main__":
    connection = psycopg2.connect(os.environ["DATABASE_URL"])
    for number in range(1, 4):
        print(place_order(connection, number, "customer-7"))
    try:
        place_order(connection, 4, "customer-7", fails=True)
    except RuntimeError as error:
        print(error)
