import { skipped } from "../../../lanes/lane.js";
import type { Skipped } from "../../../operator/operator-store.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { LockedLane } from "../lanes/lane-row.js";
import { LANE_COLUMNS, lockedLanesOf, readLockedSql } from "../lanes/lane-row.js";
import { NOBODY, writeTurns } from "../lanes/lane-write.js";
import { recordEnded } from "../lanes/record-ended.js";
import { unleasedTurn } from "../lanes/run.js";
import type { Tables } from "../schema/tables.js";

/** Passes over a lane's head, where it is this one. */
export function skip(
  { transactions, tables }: StoreDatabase,
  laneId: bigint,
  head: bigint,
): Promise<Skipped> {
  return transactions.run(async (session) => {
    const locked = await lockLane(session, laneId, tables);
    if (locked === undefined) return "unknown";
    const change = skipped(locked.lane, { head, leaseHasEnded: locked.leaseHasEnded });
    if (change === "unknown") return "unknown";
    if (change === "intended") {
      await session.query({
        text: `update ${tables.laneState} set intent = 'skip' where lane_id = $1::text::int8`,
        params: [String(laneId)],
      });
      return "intended";
    }
    if (locked.lane.state !== "flowing") await resolveSkipped(session, { laneId, head }, tables);
    const turns = [unleasedTurn(locked, change)];
    await recordEnded(session, turns, tables);
    await session.query(writeTurns(turns, NOBODY, tables));
    return "skipped";
  });
}

/** A person has decided about the dead letter: it is listed no more. A redrive still finds it. */
async function resolveSkipped(
  session: Session,
  { laneId, head }: { readonly laneId: bigint; readonly head: bigint },
  { dead }: Tables,
): Promise<void> {
  await session.query({
    text: `
      update ${dead} set resolved_at = clock_timestamp(), resolved_how = 'skipped'
      where lane_id = $1::text::int8 and seq = $2::text::int8 and resolved_at is null`,
    params: [String(laneId), String(head)],
  });
}

/** Locks one lane and reads its head; undefined where there is none of this id. */
export async function lockLane(
  session: Session,
  laneId: bigint,
  tables: Tables,
): Promise<LockedLane | undefined> {
  const { rows } = await session.query({
    text: `
      with locked as materialized (
        select 1 as n, head_seq as read_from, 1 as read_max, state.* from (
          select ${LANE_COLUMNS}
          from ${tables.laneState} where lane_id = $1::text::int8 for update
        ) as state
      )
      ${readLockedSql("locked", tables)}`,
    params: [String(laneId)],
  });
  return lockedLanesOf(rows).get(1);
}
