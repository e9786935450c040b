import { TRIED_PARAMS, triedParams, triedRows, triedValues } from "./attempt-columns.js";
import { booleanArray, numberArray, textArray } from "../client/column-arrays.js";
import type { Parameter, Statement } from "../client/database.js";
import type { LaneChange } from "./lane-change.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** Who leases, and for how long. */
export interface Leaser {
  readonly worker: string;
  readonly leaseMs: number;
}

/** Writes what became of lanes that this transaction has locked, with the attempts that were made. */
export class LaneWriter {
  readonly #leaseSql: string;
  readonly #settleSql: string;

  constructor(tables: OutboxTables) {
    this.#leaseSql = `${updateSql(tables)} select`;
    this.#settleSql = settleSql(tables);
  }

  /** Undefined where nothing has changed. */
  statement(changes: readonly LaneChange[], leaser: Leaser): Statement | undefined {
    const lanes = changes.filter(({ row }) => row.kind === "lane");
    if (lanes.length === 0) return undefined;
    const tried = lanes.flatMap(({ row, tried: attempts }) =>
      attempts.map((attempt) => ({ owner: row.id, attempt })),
    );
    const passed = lanes.filter(({ row, head }) => head > row.head);
    const params = changeParams(lanes, leaser);
    if (tried.length === 0 && passed.length === 0) return { text: this.#leaseSql, params, prepared: true };
    params.push(
      ...triedParams(tried),
      numberArray(passed.map(({ row }) => row.id)),
      numberArray(passed.map(({ row }) => row.head)),
      numberArray(passed.map(({ head }) => head)),
    );
    return { text: this.#settleSql, params, prepared: true };
  }
}

const CHANGE_PARAMS = 16;

function changeParams(changes: readonly LaneChange[], { worker, leaseMs }: Leaser): Parameter[] {
  const numbers = (of: (change: LaneChange) => number | bigint | undefined): string =>
    numberArray(changes.map(of));
  return [
    numbers(({ row }) => row.id),
    numbers(({ epoch }) => epoch),
    textArray(changes.map(({ state }) => state)),
    numbers(({ head }) => head),
    numbers(({ last }) => last),
    numbers(({ attempts }) => attempts),
    numbers(({ failures }) => failures),
    numbers(({ lapses }) => lapses),
    numbers(({ lease }) => lease?.length ?? 0),
    numbers(({ suspectUntil }) => suspectUntil),
    booleanArray(changes.map(({ skipIntended }) => skipIntended)),
    booleanArray(changes.map(({ lease }) => lease !== undefined)),
    numbers(({ readyAfterMs }) => readyAfterMs),
    textArray(changes.map(({ blocked }) => blocked)),
    worker,
    String(leaseMs),
  ];
}

// One reading of the clock for all: the lease's end and the time at which it is claimed again must be the same.
function updateSql({ laneState }: OutboxTables): string {
  return `
    with clock as materialized (
      select clock_timestamp() as at, make_interval(secs => $16::text::float8 / 1000) as lease
    ), changed as (
      update ${laneState} as state set
        epoch = change.epoch, state = change.state, head_seq = change.head_seq, last_seq = change.last_seq,
        attempts = change.attempts, failures = change.failures, lapses = change.lapses, run_len = change.run_len,
        suspect_until = change.suspect_until, intent = case when change.skip then 'skip' end,
        leased_by = case when change.leased then $15::text end,
        leased_until = case when change.leased then at + lease end,
        ready_at = case when change.leased then at + lease
          else at + make_interval(secs => change.ready_ms / 1000) end,
        blocked_at = case change.blocked when 'keep' then state.blocked_at
          when 'now' then coalesce(state.blocked_at, at) end
      from clock cross join unnest($1::int8[], $2::int8[], $3::text[], $4::int8[], $5::int8[], $6::int4[], $7::int4[],
        $8::int2[], $9::int2[], $10::int8[], $11::bool[], $12::bool[], $13::float8[], $14::text[])
        as change (lane_id, epoch, state, head_seq, last_seq, attempts, failures, lapses, run_len, suspect_until,
          skip, leased, ready_ms, blocked)
      where state.lane_id = change.lane_id
    )`;
}

// A delivery that is delivered is gone; its attempt tells of it.
function settleSql(tables: OutboxTables): string {
  const { attempt, delivery } = tables;
  const tried = CHANGE_PARAMS + 1;
  const passed = tried + TRIED_PARAMS;
  return `${updateSql(tables)}, tried as (
      insert into ${attempt} (lane_id, seq, round, no, event_id, started_at, duration_ms, outcome, status, error,
        answer)
      select owner, seq, round, no, placed.event_id, ${triedValues(tried)}
      from ${triedRows(tried)}
      cross join lateral (
        select event_id from ${delivery} as delivery
        where delivery.lane_id = tried.owner and delivery.seq = tried.seq limit 1
      ) as placed
      on conflict (lane_id, seq, round, no) do nothing
    )
    delete from ${delivery} as delivery
    using unnest($${passed}::int8[], $${passed + 1}::int8[], $${passed + 2}::int8[]) as passed (lane_id, head, upto)
    where delivery.lane_id = passed.lane_id and delivery.seq >= passed.head and delivery.seq < passed.upto`;
}
