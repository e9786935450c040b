import { reach } from "#faults";
import { arrivalOf } from "../../../inbox/worker/stored-arrival.js";
import type { StoredPayload } from "../../../inbox/inbox-store.js";
import type { UnhandledEvent } from "../../../operator/replay-store.js";
import { readReceipt } from "../../../receipt.js";
import { textArray } from "../client/column-arrays.js";
import { columns, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { enterRun } from "../lanes/enter-run.js";
import type { Tables } from "../schema/tables.js";

/** Events at a consumer, as the inbox names it. */
export interface AtConsumer {
  readonly tenant: string;
  readonly eventIds: readonly string[];
  readonly consumer: string;
}

/** Those that were stored for handlers, and of which the inbox has no row. */
export async function unhandled(
  { transactions, tables }: StoreDatabase,
  at: AtConsumer,
): Promise<readonly UnhandledEvent[]> {
  const reader: Session = { query: (statement) => transactions.read(statement) };
  return (await readUnhandled(reader, at, tables)).map(({ eventId, arrival }) => {
    const { source, id, type, eventAt } = arrival;
    return { eventId, source, id, type, eventAt };
  });
}

/** Writes the row of an event as if its handler had succeeded, under the lock that a handler would hold. */
export async function markStored({ transactions, tables }: StoreDatabase, at: AtConsumer): Promise<boolean> {
  const marked = await transactions.run(async (session) => {
    const [found] = await readUnhandled(session, at, tables);
    if (found === undefined) return false;
    // For ever: its dead letter and its event stay for as long, and a redrive after the row would apply it a second time.
    const arrival = { ...found.arrival, windowS: undefined };
    const entering = { arrival, delivery: { event: { id: found.eventId } } };
    reach("mark.before_record");
    const { rows } = await session.query(enterRun([entering], at.consumer, tables));
    reach("mark.after_record");
    return rows.length > 0;
  });
  reach("mark.after_commit");
  return marked;
}

interface StoredRow {
  readonly eventId: string;
  readonly source: string;
  readonly type: string;
  readonly receipt: string;
}

const STORED = columns<StoredRow>({
  eventId: text("wanted.public_id"),
  source: text("event.source"),
  type: text("event.type"),
  receipt: text("event.receipt"),
});

interface Stored {
  readonly eventId: string;
  readonly arrival: StoredPayload;
}

async function readUnhandled(session: Session, at: AtConsumer, tables: Tables): Promise<readonly Stored[]> {
  const stored = await readEvents(session, at, tables);
  const { rows } = await session.query({
    text: `
      select wanted.n::text as n from unnest($2::text[], $3::text[]) with ordinality as wanted (source, event_id, n)
      join ${tables.inbox} as known on known.tenant = $1::text and known.source = wanted.source
        and known.event_id = wanted.event_id and known.consumer = $4::text`,
    params: [
      at.tenant,
      textArray(stored.map(({ arrival }) => arrival.source)),
      textArray(stored.map(({ arrival }) => arrival.id)),
      at.consumer,
    ],
  });
  const handled = new Set(rows.map(([n]) => Number(n)));
  return stored.filter((_, n) => !handled.has(n + 1));
}

/** The receipt is read here: as JSON of the database it may hold characters that the database refuses. */
async function readEvents(
  session: Session,
  { tenant, eventIds }: AtConsumer,
  { event }: Tables,
): Promise<readonly Stored[]> {
  const { rows } = await session.query({
    text: `
      select ${STORED.list}
      from unnest($2::text[]) with ordinality as wanted (public_id, n)
      cross join lateral (
        select source, type, receipt from ${event} as event
        where event.tenant = $1::text and event.public_id = wanted.public_id and event.receipt is not null
        order by event.id desc limit 1
      ) as event
      order by wanted.n`,
    params: [tenant, textArray(eventIds)],
  });
  return rows
    .map((row) => STORED.read(row))
    .map(({ eventId, source, type, receipt }) => {
      const known = readReceipt(receipt);
      return {
        eventId,
        arrival: arrivalOf({ event: { id: eventId, tenant, source, type, receipt: known } }),
      };
    });
}
