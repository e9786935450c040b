import type { Skipped } from "../../operator/operator-store.js";
import { recordEnded } from "./ended-deliveries.js";
import { skippedChange } from "./lane-change.js";
import { LaneWriter } from "./lane-write.js";
import { lockLane } from "./lock-lane.js";
import type { OutboxTables } from "./outbox-tables.js";
import type { OwnTransactions } from "./own-transaction.js";

/** Nobody leases when an operator writes. */
export const NO_LEASE = { worker: "", leaseMs: 0 } as const;

/** Passes over a lane's head. */
export function skipHead(
  transactions: OwnTransactions,
  laneId: bigint,
  tables: OutboxTables,
): Promise<Skipped> {
  return transactions.run(async (session) => {
    const locked = await lockLane(session, laneId, tables);
    if (locked === undefined || locked.row.head === locked.row.end) return "unknown";
    const { row, headIsDead } = locked;
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
    await new LaneWriter(tables).write(session, [change], NO_LEASE);
    return "skipped";
  });
}
