import type { LockedRow } from "./locked-rows.js";
import { lockedRowsOf, readLockedSql } from "./locked-rows.js";
import type { Session } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** A lane that an operator is about to change. */
export interface LockedLane {
  readonly row: LockedRow;
  /** Halted or parked: its head is dead. */
  readonly headIsDead: boolean;
}

/** Locks one lane; undefined where there is none of this id. */
export async function lockLane(
  session: Session,
  laneId: bigint,
  tables: OutboxTables,
): Promise<LockedLane | undefined> {
  const { laneState } = tables;
  const { rows } = await session.query({
    text: `
      with lanes as materialized (
        select lane_id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures, lapses, run_len,
          suspect_until, intent, leased_until
        from ${laneState} where lane_id = $1::text::int8 for update
      )
      ${readLockedSql(LOCKED, tables)}`,
    params: [String(laneId)],
  });
  const row = lockedRowsOf(rows, 0).get(1);
  if (row === undefined) return undefined;
  const { rows: states } = await session.query({
    text: `select state from ${laneState} where lane_id = $1::text::int8`,
    params: [String(laneId)],
  });
  return { row, headIsDead: states[0]?.[0] !== "flowing" };
}

const LOCKED = `(
        select 1 as n, 'lane' as kind, lane_id as id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts,
          failures, lapses, run_len, suspect_until, intent, leased_until, null::int8 as event_id, null::int4 as round,
          null::int8 as run_from, 1 as run_max, null::timestamptz as ready_at
        from lanes
      )`;
