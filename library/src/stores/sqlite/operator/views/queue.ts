import type { QueuedDelivery, QueuePart } from "../../../../operator/view-store.js";
import type { SqliteClient } from "../../client/client.js";

interface QueuedColumns {
  readonly seq: bigint;
  readonly public_id: string;
  readonly type: string;
  readonly event_at: bigint;
  readonly written_at: bigint;
}

// A finished delivery has at least one row, and seldom more attempts than this.
const ATTEMPTS_EACH = 20;

const WAITING = "select seq, event from posthorn_delivery where lane = ? order by seq";

// Before the head: what is redriven in its place has attempts, and waits.
const BEFORE = "seq < (select head_seq from posthorn_lane where id = ?)";

const FINISHED = `select seq, max(event) as event from (
    select * from (select seq, event from posthorn_attempt where lane = ? and ${BEFORE} order by seq desc limit +?)
    union all
    select * from (select seq, event from posthorn_cancelled where lane = ? and ${BEFORE} order by seq desc limit +?)
  ) group by seq order by seq desc limit +?`;

/** One end of a lane. */
export function readQueue(
  client: SqliteClient,
  lane: bigint,
  { part, limit }: { readonly part: QueuePart; readonly limit: number },
): readonly QueuedDelivery[] {
  if (limit <= 0) return [];
  const [placed, values] =
    part === "finished"
      ? [FINISHED, [lane, lane, limit * ATTEMPTS_EACH, lane, lane, limit, limit]]
      : [`${WAITING} ${part === "first" ? "asc" : "desc"} limit +?`, [lane, limit]];
  const rows = client.allWide(
    `select p.seq, e.public_id, e.type, e.event_at, e.written_at
     from (${placed}) p cross join posthorn_event e on e.id = p.event order by p.seq`,
    ...values,
  ) as QueuedColumns[];
  return rows.map((row) => ({
    sequence: row.seq,
    eventId: row.public_id,
    type: row.type,
    time: new Date(Number(row.event_at)),
    writtenAt: new Date(Number(row.written_at)),
  }));
}
