import { systemClock } from "../../../clock.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { storeFailed } from "../../../store-failed.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

// Clocks are set by fractions of a second all the time. Nobody looks, or writes a time down, more often than this.
const SLACK_MS = 1000;
// To move very many takes its time; one that failed is not tried again at once.
const AGAIN_MS = 60_000;

export interface SeenTimeParts extends StoreDatabase {
  readonly observer: Observer | undefined;
}

/**
 * Notices that the server's clock was set back. What was put off by the clock as it stood before would else wait for the
 * length of the jump. The latest time that anybody has seen is in the database, so that every process notices, and one
 * of them moves what waits.
 */
export class SeenTime {
  readonly #parts: SeenTimeParts;
  #nextAt = -Infinity;

  constructor(parts: SeenTimeParts) {
    this.#parts = parts;
  }

  /** Looks at the clock, once a second at most. Never rejects: without it, everything goes on as the clock says. */
  async keep(): Promise<void> {
    const now = systemClock.monotonic();
    if (now < this.#nextAt) return;
    this.#nextAt = now + SLACK_MS;
    try {
      await this.#look();
    } catch (error) {
      this.#nextAt = now + AGAIN_MS;
      notify(this.#parts.observer, storeFailed("seen_time", error));
    }
  }

  async #look(): Promise<void> {
    const { transactions, tables } = this.#parts;
    const { rows } = await transactions.read({ text: AHEAD(tables), params: [], prepared: true });
    const aheadMs = Number(rows[0]?.[0] ?? 0);
    if (aheadMs > SLACK_MS) await this.#moveBack();
    else if (aheadMs < -SLACK_MS) {
      await transactions.write({ text: NOTE(tables), params: [], prepared: true });
    }
  }

  async #moveBack(): Promise<void> {
    const { transactions, tables } = this.#parts;
    await transactions.run((session) => session.query({ text: MOVE_BACK(tables), params: [] }), "fresh");
  }
}

const AHEAD = sqlFor(
  ({ seenTime }) =>
    `select (extract(epoch from seen_at - clock_timestamp()) * 1000)::float8::text as ahead from ${seenTime} where one`,
);

const NOTE = sqlFor(
  ({ seenTime }) =>
    `update ${seenTime} set seen_at = clock_timestamp() where one and seen_at < clock_timestamp()`,
);

const SLACK = `${SLACK_MS} * interval '1 millisecond'`;

// Who gets the row of the time moves everything; whoever waited for it finds that nothing is ahead any more. A lane that
// somebody has locked is being put off anew, by the clock as it is.
const MOVE_BACK = sqlFor(
  (tables) => `
    with clock as materialized (
      select clock_timestamp() as at
    ), seen as materialized (
      select seen_at - (select at from clock) as by from ${tables.seenTime}
      where one and seen_at > (select at from clock) + ${SLACK} for update
    ), ${movedSql("lanes", tables.laneState, "lane_id")}, ${movedSql("loose", tables.loose, "id")},
    moved_pauses as (
      -- A handler that was paused for a minute must not rest for an hour because the clock was an hour ahead.
      update ${tables.consumer} as consumer set paused_until = greatest(paused_until - seen.by, (select at from clock))
      from seen where paused_until > (select at from clock)
    ), moved_held as (
      update ${tables.held} as held set until = greatest(held.until - seen.by, (select at from clock))
      from seen where held.until > (select at from clock)
    )
    update ${tables.seenTime} set seen_at = (select at from clock) where one and exists (select from seen)`,
);

// A lease that began before this moment ends soon enough by itself; ended now, it would be sent twice at once. Of one
// that is moved, the beginning is moved too: left behind, its lapse would have lasted less than nothing.
function movedSql(name: string, table: string, id: string): string {
  return `${name} as materialized (
      select state.${id} from ${table} as state
      where exists (select from seen) and ready_at > (select at from clock)
        and (leased_by is null or leased_at > (select at from clock))
      order by state.${id} for update skip locked
    ), moved_${name} as (
      update ${table} as state set
        ready_at = greatest(ready_at - seen.by, (select at from clock)),
        leased_until = greatest(leased_until - seen.by, (select at from clock)),
        leased_at = leased_at - seen.by
      from ${name}, seen where state.${id} = ${name}.${id}
    )`;
}
