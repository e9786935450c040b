import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { receiptText } from "../../../receipt.js";
import type { Statement } from "../client/database.js";
import type { GivenColumn, GivenRows } from "../client/given-rows.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import { withoutNul } from "../client/identifiers.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

/** What of an event is given to a statement, but its body. */
export const EVENT_FIELDS: Readonly<Record<string, GivenColumn<OutgoingEvent>>> = {
  public_id: texts(({ id }) => id),
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  type: texts(({ type }) => type),
  key: texts(({ key }) => key),
  content_type: texts(({ contentType }) => contentType),
  headers: texts(headersText),
  event_ms: numbers("float8", ({ time }) => time.getTime()),
  deliver_ms: numbers("float8", ({ deliverAt }) => deliverAt?.getTime()),
  expires_ms: numbers("float8", ({ expiresAt }) => expiresAt?.getTime()),
};

/** As JSON, which escapes NUL; most events have none, and a null costs their rows nothing. */
function headersText({ headers }: Pick<OutgoingEvent, "headers">): string | undefined {
  return headers === undefined || Object.keys(headers).length === 0 ? undefined : JSON.stringify(headers);
}

/** Events that are given to a statement. */
export const EVENTS: GivenRows<OutgoingEvent> = givenRows(EVENT_FIELDS, { body: ({ body }) => body });

/** Events that came from elsewhere, given to a statement. */
export const INGESTED: GivenRows<OutgoingEvent> = givenRows(
  {
    ...EVENT_FIELDS,
    provider_id: texts(({ origin }) => origin?.providerId),
    verified_by: texts(({ origin }) => origin?.verifiedBy),
    receipt: texts(({ receipt }) => receipt && receiptText(receipt)),
    caused_by: texts(({ causedBy }) => causedBy),
  },
  { body: ({ body }) => body },
);

/** The columns of the table of events that are written. */
export const EVENT_COLUMNS =
  "public_id, tenant, source, type, key, content_type, headers, event_at, deliver_at, expires_at, body";

/** Their values, of events that are given. */
export const EVENT_VALUES = `public_id, tenant, source, type, key, content_type, headers, to_timestamp(event_ms / 1000),
        to_timestamp(deliver_ms / 1000), to_timestamp(expires_ms / 1000), body`;

/** Writes events whose ids nobody gave: no other event can stand in their way, and one statement does it. */
export function writeEvents(events: readonly OutgoingEvent[], tables: Tables): Statement {
  const [first] = events;
  if (first !== undefined && events.length === 1 && first.deliverAt === undefined)
    return writeOne(first, tables);
  return { text: WRITE(tables), params: EVENTS.params(events), prepared: true };
}

/**
 * One event that is staged at once, which is what almost every transaction of a host publishes. As a batch of one it made
 * the host's transaction half as expensive again (docs/decisions/0040).
 */
function writeOne(event: OutgoingEvent, tables: Tables): Statement {
  const { id, tenant, source, type, key, contentType, time, expiresAt, body } = event;
  return {
    text: WRITE_ONE(tables),
    params: [
      id,
      tenant,
      withoutNul(source),
      withoutNul(type),
      key === undefined ? null : withoutNul(key),
      withoutNul(contentType),
      headersText(event) ?? null,
      String(time.getTime()),
      expiresAt === undefined ? null : String(expiresAt.getTime()),
      body,
    ],
    prepared: true,
  };
}

const WRITE_ONE = sqlFor(
  ({ event, stage }) => `
    with written as (
      insert into ${event} (public_id, tenant, source, type, key, content_type, headers, event_at, expires_at, body)
      values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text,
        to_timestamp($8::text::float8 / 1000), to_timestamp($9::text::float8 / 1000), $10::bytea)
      returning id, tenant
    )
    insert into ${stage} (tenant, event_id) select tenant, id from written`,
);

// In the order in which they were given: the order of the numbers is the order of the lanes.
const WRITE = sqlFor(
  (tables) => `
    with written as (
      insert into ${tables.event} (${EVENT_COLUMNS}) select ${EVENT_VALUES} from ${EVENTS.table("given")} order by n
      returning id, tenant, deliver_at
    ), ${stageWrittenSql(tables)}
    select 'written' as outcome`,
);

/**
 * Stages the events `written`, or puts them off, as parts of a `with`. By one reading of the clock: by two, an event that
 * is due between them would be in both tables, or in neither.
 */
export function stageWrittenSql({ stage, later }: Tables): string {
  return `clock as materialized (
      select clock_timestamp() as at
    ), put_off as (
      insert into ${later} (deliver_at, event_id) select deliver_at, id from written, clock where deliver_at > at
    ), staged as (
      insert into ${stage} (tenant, event_id)
      select tenant, id from written, clock where deliver_at is null or deliver_at <= at order by id
    )`;
}
