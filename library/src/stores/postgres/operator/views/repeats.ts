import type { RepeatRecord } from "../../../../operator/view-store.js";
import { textArray } from "../../client/column-arrays.js";
import { bytes, columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { headersOf } from "../../lanes/lane-row.js";
import { sqlFor } from "../../schema/tables.js";

interface RepeatValues extends Omit<RepeatRecord, "headers"> {
  readonly headers: string;
}

const REPEAT = columns<RepeatValues>({
  kind: text("kind"),
  receipts: number("receipts"),
  firstAt: instant("received_at"),
  lastAt: instant("last_received_at"),
  headers: text("headers"),
  bodyHash: bytes("body_hash"),
  body: optional(bytes("body")),
});

// A sender may send as many bodies as it likes; a page shows the first of them.
const MOST_SHOWN = 100;

/** The duplicates and conflicts of an event, oldest first. */
export async function readRepeats(
  { transactions, tables }: StoreDatabase,
  tenant: string,
  eventId: string,
): Promise<readonly RepeatRecord[]> {
  const rows = await transactions.readKept({ text: REPEATS(tables), params: [tenant, eventId] });
  return rows.map((row) => {
    const values = REPEAT.read(row);
    return Object.assign(values, { headers: headersOf(values.headers) });
  });
}

const REPEATS = sqlFor(
  ({ ingestRepeat }) => `
    select ${REPEAT.list} from ${ingestRepeat} where tenant = $1::text and event_id = $2::text
    order by received_at, id limit ${MOST_SHOWN}`,
);

const NAMED = columns<{ readonly id: string }>({ id: text("event_id") });

/** The ids of the events that came under these names. */
export async function readNamedEvents(
  { transactions, tables }: StoreDatabase,
  tenant: string,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const rows = await transactions.readKept({
    text: NAMED_EVENTS(tables),
    params: [tenant, textArray(names)],
  });
  return rows.map((row) => NAMED.read(row).id);
}

const NAMED_EVENTS = sqlFor(
  ({ ingestName }) => `
    select distinct ${NAMED.list} from ${ingestName}
    where tenant = $1::text and name = any ($2::text[])
      and (keep_until is null or keep_until > (select clock_timestamp()))`,
);
