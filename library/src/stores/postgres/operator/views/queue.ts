import type { QueuedDelivery, QueuePart } from "../../../../operator/view-store.js";
import { bigint, columns, instant, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import type { Tables } from "../../schema/tables.js";
import { sqlFor } from "../../schema/tables.js";

const QUEUED = columns<QueuedDelivery>({
  sequence: bigint("placed.seq"),
  eventId: text("event.public_id"),
  type: text("event.type"),
  time: instant("event_at"),
  writtenAt: instant("written_at"),
});

// A finished delivery has at least one row here, and seldom more attempts than this.
const ATTEMPTS_EACH = 20;

/** One end of a lane. */
export async function readQueue(
  { transactions, tables }: StoreDatabase,
  laneId: bigint,
  { part, limit }: { readonly part: QueuePart; readonly limit: number },
): Promise<readonly QueuedDelivery[]> {
  if (limit <= 0) return [];
  const params = [String(laneId), String(limit)];
  const rows = await transactions.readKept({ text: PARTS[part](tables), params });
  return rows.map((row) => QUEUED.read(row));
}

const PARTS: Readonly<Record<QueuePart, (tables: Tables) => string>> = {
  first: sqlFor((tables) => queueSql(tables, waitingSql(tables, "asc"))),
  last: sqlFor((tables) => queueSql(tables, waitingSql(tables, "desc"))),
  finished: sqlFor((tables) => queueSql(tables, finishedSql(tables))),
};

function queueSql({ event }: Tables, placed: string): string {
  return `
    with placed as materialized (${placed}
    )
    select ${QUEUED.list} from placed join ${event} as event on event.id = placed.event_id order by placed.seq`;
}

function waitingSql({ delivery }: Tables, order: "asc" | "desc"): string {
  return `
      select seq, event_id from ${delivery} where lane_id = $1::text::int8 order by seq ${order} limit $2::text::int8`;
}

// Before the head: what is redriven in its place has attempts, and waits.
function finishedSql({ attempt, cancelled, laneState }: Tables): string {
  const before = `seq < (select head_seq from ${laneState} where lane_id = $1::text::int8)`;
  return `
      select seq, max(event_id) as event_id from (
        (
          select seq, event_id from ${attempt} where lane_id = $1::text::int8 and ${before}
          order by seq desc, round desc, no desc limit $2::text::int8 * ${ATTEMPTS_EACH}
        )
        union all
        (
          select seq, event_id from ${cancelled} where lane_id = $1::text::int8 and ${before}
          order by seq desc limit $2::text::int8
        )
      ) as ended
      group by seq order by seq desc limit $2::text::int8`;
}
