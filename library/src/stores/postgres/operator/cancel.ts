import { cancelledRange } from "../../../lanes/cancelled-range.js";
import type { CancelledRange } from "../../../lanes/cancelled-range.js";
import type { LaneCancelled } from "../../../operator/dead-store.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { LockedLane } from "../lanes/lane-row.js";
import { NOBODY, writeTurns } from "../lanes/lane-write.js";
import { unleasedTurn } from "../lanes/run.js";
import type { Tables } from "../schema/tables.js";
import { lockLane } from "./skip.js";

/** Cancels what waits in a lane, from its head to a sequence. */
export function cancelLane(
  { transactions, tables }: StoreDatabase,
  laneId: bigint,
  through: bigint,
): Promise<LaneCancelled> {
  return transactions.run(async (session) => {
    const locked = await lockLane(session, laneId, tables);
    if (locked === undefined) return { kind: "unknown" };
    const range = cancelledRange(locked.lane, { through, leaseHasEnded: locked.leaseHasEnded });
    if (range === "unknown") return { kind: range };
    if (range === "intended") {
      await session.query({
        text: `update ${tables.laneState} set intent = 'skip' where lane_id = $1::text::int8`,
        params: [String(laneId)],
      });
      return { kind: range };
    }
    await record(session, { locked, range }, tables);
    await session.query(writeTurns([unleasedTurn(locked, range.change)], NOBODY, tables));
    return { kind: "cancelled", count: Number(range.change.head - locked.lane.head) };
  });
}

/** Before the lane is written, which removes what is recorded here. */
async function record(
  session: Session,
  { locked, range }: { readonly locked: LockedLane; readonly range: CancelledRange },
  { cancelled, dead, delivery }: Tables,
): Promise<void> {
  const lane = String(locked.identity.id);
  await session.query({
    text: `
      insert into ${cancelled} (consumer_id, lane_id, seq, event_id, round, because, cancelled_at)
      select $4::text::int8, lane_id, seq, event_id, round, 'cancelled', clock_timestamp() from ${delivery}
      where lane_id = $1::text::int8 and seq >= $2::text::int8 and seq <= $3::text::int8 order by seq`,
    params: [lane, String(range.from), String(range.through), String(locked.consumer)],
  });
  if (range.dead === undefined) return;
  await session.query({
    text: `
      update ${dead} set resolved_at = clock_timestamp(), resolved_how = 'cancelled'
      where lane_id = $1::text::int8 and seq = $2::text::int8 and resolved_at is null`,
    params: [lane, String(range.dead)],
  });
}
