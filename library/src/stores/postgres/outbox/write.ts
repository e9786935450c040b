import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { numberArray, packBytes, textArray } from "../client/column-arrays.js";
import type { Parameter, Session, Statement } from "../client/database.js";
import { withoutNul } from "../client/identifiers.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** Writes events whose ids nobody gave: nothing can stand in their way, and one statement does it. */
export class EventWriter {
  readonly #one: string;
  readonly #plain: string;
  readonly #many: string;

  constructor(tables: OutboxTables) {
    this.#one = oneSql(tables);
    this.#plain = plainSql(tables);
    this.#many = manySql(tables);
  }

  async write(session: Session, events: readonly OutgoingEvent[]): Promise<void> {
    if (events.length > 0) await session.query(this.statement(events));
  }

  statement(events: readonly OutgoingEvent[]): Statement {
    const [first] = events;
    if (first !== undefined && events.length === 1 && first.deliverAt === undefined) {
      return { text: this.#one, params: oneParams(first), prepared: true };
    }
    if (events.every(isPlain)) return { text: this.#plain, params: plainParams(events), prepared: true };
    return { text: this.#many, params: eventParams(events), prepared: true };
  }
}

const COLUMNS =
  "public_id, tenant, source, type, key, content_type, headers, event_at, deliver_at, expires_at, body";

// The body as it is: in an array it would have to be packed.
function oneSql({ event, stage }: OutboxTables): string {
  return `
    with written as (
      insert into ${event} (${COLUMNS})
      values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text,
        to_timestamp($8::text::float8 / 1000), null, to_timestamp($9::text::float8 / 1000), $10::bytea)
      returning id
    )
    insert into ${stage} (event_id) select id from written`;
}

function oneParams(event: OutgoingEvent): Parameter[] {
  const { id, tenant, source, type, key, contentType, time, expiresAt, body } = event;
  return [
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
  ];
}

/** As JSON, which escapes NUL; most events have none, and a null costs their rows nothing. */
function headersText({ headers }: Pick<OutgoingEvent, "headers">): string | undefined {
  return headers === undefined || Object.keys(headers).length === 0 ? undefined : JSON.stringify(headers);
}

/** How many parameters {@link eventParams} has. */
export const EVENT_PARAMS = 13;

/** The parameters $1 to $13 as rows, numbered by `n`. */
export const GIVEN_EVENTS = `
  unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[],
    $9::float8[], $10::float8[], $11::int4[], $12::int4[]) with ordinality
  as given (public_id, tenant, source, type, key, content_type, headers, event_ms, deliver_ms, expires_ms,
    body_start, body_length, n)`;

/** What of {@link GIVEN_EVENTS} the table of events has as {@link COLUMNS}. */
export const EVENT_VALUES = `
  public_id, tenant, source, type, key, content_type, headers, to_timestamp(event_ms / 1000),
  to_timestamp(deliver_ms / 1000), to_timestamp(expires_ms / 1000),
  substring($13::bytea from body_start for body_length)`;

export { COLUMNS as EVENT_COLUMNS };

export function eventParams(events: readonly OutgoingEvent[]): Parameter[] {
  const texts = (of: (event: OutgoingEvent) => string | undefined): string => textArray(events.map(of));
  const times = (of: (event: OutgoingEvent) => Date | undefined): string =>
    numberArray(events.map((event) => of(event)?.getTime()));
  const bodies = packBytes(events.map(({ body }) => body));
  return [
    texts(({ id }) => id),
    texts(({ tenant }) => tenant),
    texts(({ source }) => source),
    texts(({ type }) => type),
    texts(({ key }) => key),
    texts(({ contentType }) => contentType),
    texts(headersText),
    times(({ time }) => time),
    times(({ deliverAt }) => deliverAt),
    times(({ expiresAt }) => expiresAt),
    bodies.starts,
    bodies.lengths,
    bodies.bytes,
  ];
}

// In the order in which they were given: the order of the numbers is the order of the lanes.
function manySql(tables: OutboxTables): string {
  return `
    with written as (
      insert into ${tables.event} (${COLUMNS}) select ${EVENT_VALUES} from ${GIVEN_EVENTS} order by n
      returning id, deliver_at
    )${laterSql(tables)}`;
}

/** What most events are: three columns fewer to send and to read are a tenth of the statement. */
export function isPlain({ headers, deliverAt, expiresAt }: OutgoingEvent): boolean {
  return headers === undefined && deliverAt === undefined && expiresAt === undefined;
}

export const PLAIN_COLUMNS = "public_id, tenant, source, type, key, content_type, event_at, body";

/** Of the parameters $1 to $10, as rows. */
export const PLAIN_VALUES = `public_id, tenant, source, type, key, content_type, to_timestamp(event_ms / 1000),
        substring($10::bytea from body_start for body_length)`;

function plainSql({ event, stage }: OutboxTables): string {
  return `
    with written as (
      insert into ${event} (${PLAIN_COLUMNS})
      select ${PLAIN_VALUES}
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[],
        $8::int4[], $9::int4[]) with ordinality
      as given (public_id, tenant, source, type, key, content_type, event_ms, body_start, body_length, n)
      order by n
      returning id
    )
    insert into ${stage} (event_id) select id from written order by id`;
}

export function plainParams(events: readonly OutgoingEvent[]): Parameter[] {
  const bodies = packBytes(events.map(({ body }) => body));
  return [
    textArray(events.map(({ id }) => id)),
    textArray(events.map(({ tenant }) => tenant)),
    textArray(events.map(({ source }) => source)),
    textArray(events.map(({ type }) => type)),
    textArray(events.map(({ key }) => key)),
    textArray(events.map(({ contentType }) => contentType)),
    numberArray(events.map(({ time }) => time.getTime())),
    bodies.starts,
    bodies.lengths,
    bodies.bytes,
  ];
}

// By one reading of the clock: by two, an event that is due between them would be in both tables, or in neither.
export function laterSql({ stage, later }: OutboxTables): string {
  return `, clock as materialized (
      select clock_timestamp() as at
    ), put_off as (
      insert into ${later} (deliver_at, event_id)
      select deliver_at, id from written, clock where deliver_at > at
    )
    insert into ${stage} (event_id)
    select id from written, clock where deliver_at is null or deliver_at <= at order by id`;
}
