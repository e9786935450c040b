"""Publishes an event in the transaction that writes an order; Posthorn's dispatcher delivers it (spec/outbox.md)."""

import json
import secrets
import sqlite3
import sys
import time
from datetime import datetime, timezone

PUBLISH = """
insert into posthorn_event (public_id, tenant, source, type, key, content_type, event_at, body, written_at)
values (:id, 'default', 'shop', :type, :key, 'application/json', :at, :body, :at)
"""
STAGE = "insert into posthorn_stage (tenant, event) values ('default', ?)"


def publish(connection, type, key, data):
    at = time.time_ns() // 1_000_000
    timestamp = datetime.fromtimestamp(at / 1000, timezone.utc).isoformat(timespec="milliseconds")
    body = json.dumps({"type": type, "timestamp": timestamp.replace("+00:00", "Z"), "data": data}).encode()
    event = {"id": "evt_" + secrets.token_hex(16), "type": type, "key": key, "at": at, "body": body}
    connection.execute(STAGE, (connection.execute(PUBLISH, event).lastrowid,))
    return event["id"]


def place_order(connection, number, customer, fails=False):
    # Leaving the block commits both the order and the event; an exception rolls both back.
    with connection:
        connection.execute("begin immediate")
        connection.execute("insert into orders (number, customer) values (?, ?)", (number, customer))
        id = publish(connection, "order.placed", customer, {"number": number})
        if fails:
            raise RuntimeError("the card was declined")
    return id


if __name__ == "__main__":
    connection = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
    connection.execute("pragma synchronous = full")
    for number in range(1, 4):
        print(place_order(connection, number, "customer-7"))
    try:
        place_order(connection, 4, "customer-7", fails=True)
    except RuntimeError as error:
        print(error)
