import type { Statement } from "../client/database.js";
import { booleans, givenRows, numbers, texts } from "../client/given-rows.js";
import { sqlFor } from "../schema/tables.js";
import type { Tables } from "../schema/tables.js";
import { attemptsSql, TRIED, triedOf } from "./attempt-rows.js";
import type { Turn } from "./run.js";

/** Who leases, and for how long. */
export interface Leaser {
  readonly worker: string;
  readonly leaseMs: number;
}

/** For verbs that lease nothing. */
export const NOBODY: Leaser = { worker: "", leaseMs: 0 };

const CHANGES = givenRows<Turn>({
  kind: texts(({ locked }) => locked.lane.kind),
  id: numbers("int8", ({ locked }) => locked.identity.id),
  // What was the head: what lies between it and the head now is over.
  was_head: numbers("int8", ({ locked }) => locked.lane.head),
  epoch: numbers("int8", ({ epoch }) => epoch),
  state: texts(({ change }) => change.state),
  head_seq: numbers("int8", ({ change }) => change.head),
  last_seq: numbers("int8", ({ change }) => change.last),
  round: numbers("int4", ({ change }) => change.round),
  attempts: numbers("int4", ({ change }) => change.attempts),
  failures: numbers("int4", ({ change }) => change.failures),
  lapses: numbers("int2", ({ change }) => change.lapses),
  run_len: numbers("int2", ({ run }) => run?.length ?? 0),
  suspect_until: numbers("int8", ({ change }) => change.suspectUntil),
  skip: booleans(({ change }) => change.skipIntended),
  leased: booleans(({ run }) => run !== undefined),
  ready_ms: numbers("float8", ({ change }) => change.readyAfterMs),
  blocked: texts(({ change }) => change.blocked),
});

/**
 * Writes what became of lanes and loose deliveries that this transaction has locked, with the attempts that were made:
 * one statement, so that both drivers send it together with the commit. Dead and cancelled deliveries are recorded before
 * it (record-ended.ts): it removes what they were.
 */
export function writeTurns(turns: readonly Turn[], { worker, leaseMs }: Leaser, tables: Tables): Statement {
  const tried = turns.flatMap(({ locked: { identity }, change }) =>
    change.tried.map((attempt) => triedOf({ kind: identity.kind, owner: identity.id, attempt })),
  );
  return {
    text: WRITE(tables),
    params: [worker, String(leaseMs), ...CHANGES.params(turns), ...TRIED.params(tried)],
    prepared: true,
  };
}

const LEASE_COLUMNS = `leased_by = case when change.leased then $1::text end,
        leased_at = case when change.leased then at end,
        leased_until = case when change.leased then at + lease end,
        ready_at = at + case when change.leased then lease else make_interval(secs => change.ready_ms / 1000) end`;

// One reading of the clock for all: the end of a lease and the time at which the lane is due again must be the same. A
// delivery that was delivered is gone, and its attempt tells of it. A loose delivery that is dead has no time at which it
// is ready, and stays, for a redrive. Rows are found one by one and changed by their ctid, which nobody else can change
// while they are locked: a join with the table was planned, when a vacuum had just found it empty, as a walk over all of
// it for each row.
const WRITE = sqlFor((tables) => {
  const { laneState, delivery, loose } = tables;
  return `
    with clock as materialized (
      select clock_timestamp() as at, make_interval(secs => $2::text::float8 / 1000) as lease
    ), change as materialized (
      select * from ${CHANGES.table("change", 3)}
    ), tried as materialized (
      select * from ${TRIED.table("tried", 3 + CHANGES.size)}
    ), lanes as (
      update ${laneState} as state set
        epoch = change.epoch, state = change.state, head_seq = change.head_seq, last_seq = change.last_seq,
        attempts = change.attempts, failures = change.failures, lapses = change.lapses, run_len = change.run_len,
        suspect_until = change.suspect_until, intent = case when change.skip then 'skip' end,
        blocked_at = case change.blocked when 'keep' then state.blocked_at when 'now' then at end,
        ${LEASE_COLUMNS}
      from clock cross join (
        select change.*, found.ctid as found_at from change cross join lateral (
          select state.ctid from ${laneState} as state where change.kind = 'lane' and state.lane_id = change.id limit 1
        ) as found
      ) as change
      where state.ctid = change.found_at
    ), loose as (
      update ${loose} as loose set
        epoch = change.epoch, round = change.round, attempts = change.attempts, failures = change.failures,
        lapses = change.lapses, ${LEASE_COLUMNS}
      from clock cross join (
        select change.*, found.ctid as found_at from change cross join lateral (
          select loose.ctid from ${loose} as loose
          where change.kind = 'loose' and change.head_seq = 0 and loose.id = change.id limit 1
        ) as found
      ) as change
      where loose.ctid = change.found_at
    ), ${attemptsSql(tables)}, passed as (
      delete from ${delivery} where ctid = any (array(
        select passed.ctid from change cross join lateral (
          select delivery.ctid from ${delivery} as delivery
          where change.kind = 'lane' and delivery.lane_id = change.id
            and delivery.seq >= change.was_head and delivery.seq < change.head_seq
          limit change.head_seq - change.was_head
        ) as passed
      ))
    )
    delete from ${loose} where id = any (array(
      select id from change where kind = 'loose' and head_seq > 0
    ))`;
});
