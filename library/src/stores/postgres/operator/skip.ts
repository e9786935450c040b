import type { Skipped } from "../../../operator/operator-store.js";
import type { Session } from "../client/database.js";
import { recordEnded } from "../lanes/record-ended.js";
import type { LaneChange } from "../lanes/lane-change.js";
import { skippedChange } from "../lanes/lane-change.js";
import { LaneWriter } from "../lanes/lane-write.js";
import { lockLane } from "../lanes/lock-lane.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

/** Writes what an operator made of a lane; nobody leases it. */
export async function writeLane(session: Session, change: LaneChange, tables: OutboxTables): Promise<void> {
  const statement = new LaneWriter(tables).statement([change], { worker: "", leaseMs: 0 });
  if (statement) await session.query(statement);
}

/** Passes over a lane's head, where it is this one. */
export function skipHead(
  transactions: OwnTransactions,
  { laneId, head }: { readonly laneId: bigint; readonly head: bigint },
  tables: OutboxTables,
): Promise<Skipped> {
  return transactions.run(async (session) => {
    const locked = await lockLane(session, laneId, tables);
    if (locked === undefined || locked.row.head === locked.row.end) return "unknown";
    const { row, headIsDead } = locked;
    // Under the lock: of two clicks at once, the second would otherwise pass over the next.
    if (row.head !== head) return "unknown";
    if (row.leasedUntilMs !== undefined) {
      // The epoch stays: what the worker has under way may still succeed.
      await session.query({
        text: `update ${tables.laneState} set intent = 'skip' where lane_id = $1::text::int8`,
        params: [String(laneId)],
      });
      return "intended";
    }
    const change = skippedChange(row, headIsDead);
    await recordEnded(session, [change], tables);
    await writeLane(session, change, tables);
    return "skipped";
  });
}
