import { TRIED_PARAMS, triedParams, triedRows, triedValues } from "./attempt-columns.js";
import { booleanArray, numberArray } from "../client/column-arrays.js";
import type { Statement } from "../client/database.js";
import type { LaneChange } from "./lane-change.js";
import type { Leaser } from "./lane-write.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** Writes what became of loose deliveries that this transaction has locked, with the attempts that were made. */
export class LooseWriter {
  readonly #sql: string;

  constructor(tables: OutboxTables) {
    this.#sql = looseSql(tables);
  }

  /** Undefined where nothing has changed. */
  statement(changes: readonly LaneChange[], { worker, leaseMs }: Leaser): Statement | undefined {
    const loose = changes.filter(({ row }) => row.kind === "loose");
    if (loose.length === 0) return undefined;
    const tried = loose.flatMap(({ row, tried: attempts }) =>
      attempts.map((attempt) => ({ owner: row.id, attempt })),
    );
    const passed = loose.filter(({ row, head }) => head > row.head);
    const kept = loose.filter(({ row, head }) => head === row.head);
    const numbers = (of: (change: LaneChange) => number | bigint | undefined): string =>
      numberArray(kept.map(of));
    return {
      text: this.#sql,
      params: [
        numbers(({ row }) => row.id),
        numbers(({ epoch }) => epoch),
        numbers(({ attempts }) => attempts),
        numbers(({ failures }) => failures),
        numbers(({ lapses }) => lapses),
        booleanArray(kept.map(({ lease }) => lease !== undefined)),
        numbers(({ readyAfterMs }) => readyAfterMs),
        worker,
        String(leaseMs),
        ...triedParams(tried),
        numberArray(passed.map(({ row }) => row.id)),
      ],
      prepared: true,
    };
  }
}

const CHANGE_PARAMS = 9;

// One that is dead has no time at which it is ready, and stays, for a redrive.
function looseSql({ loose, looseAttempt }: OutboxTables): string {
  const tried = CHANGE_PARAMS + 1;
  const passed = tried + TRIED_PARAMS;
  return `
    with clock as materialized (
      select clock_timestamp() as at, make_interval(secs => $9::text::float8 / 1000) as lease
    ), changed as (
      update ${loose} as loose set
        epoch = change.epoch, attempts = change.attempts, failures = change.failures, lapses = change.lapses,
        leased_by = case when change.leased then $8::text end,
        leased_until = case when change.leased then at + lease end,
        ready_at = case when change.leased then at + lease
          else at + make_interval(secs => change.ready_ms / 1000) end
      from clock cross join unnest($1::int8[], $2::int8[], $3::int4[], $4::int4[], $5::int2[], $6::bool[], $7::float8[])
        as change (id, epoch, attempts, failures, lapses, leased, ready_ms)
      where loose.id = change.id
    ), tried as (
      insert into ${looseAttempt} (delivery_id, round, no, event_id, endpoint_id, started_at, duration_ms, outcome,
        status, error, answer)
      select owner, tried.round, no, known.event_id, known.endpoint_id, ${triedValues(tried)}
      from ${triedRows(tried)}
      cross join lateral (
        select event_id, endpoint_id from ${loose} as loose where loose.id = tried.owner limit 1
      ) as known
      on conflict (delivery_id, round, no) do nothing
    )
    delete from ${loose} where id = any ($${passed}::int8[])`;
}
