import type { Clock } from "../../../clock.js";
import { numberArray } from "../client/column-arrays.js";
import type { LockedRow } from "./locked-rows.js";

// What became due before the one that waited longest can only be what was locked, or was committed late. A transaction
// of ours cannot be open for longer than this.
const MARGIN_S = 5;
const FORGET_MS = 2000;
// Not worth it for less.
const MIN_ROWS = 8;

/**
 * Since when what is due at an endpoint became due, as far as the last claim has seen. What was claimed before leaves
 * entries in the index until it is vacuumed, which an old transaction of anybody can hold up: a claim that began at the
 * front of the index would look at all of them, and become slower with each.
 */
export class Watermarks {
  readonly #clock: Clock;
  #since = new Map<bigint, number>();
  #forgetAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The ids of endpoints and their times, as parameters. Forgotten soon, so that nothing stays unseen. */
  params(): [ids: string, since: string] {
    if (this.#clock.monotonic() >= this.#forgetAt) this.forget();
    return [numberArray([...this.#since.keys()]), numberArray([...this.#since.values()])];
  }

  get isEmpty(): boolean {
    return this.#since.size === 0;
  }

  forget(): void {
    this.#since = new Map();
  }

  /** Only of a claim that got all it wanted: of any other, everything that is due must be seen next time. */
  learn(rows: readonly LockedRow[]): void {
    if (rows.length < MIN_ROWS) return;
    if (this.isEmpty) this.#forgetAt = this.#clock.monotonic() + FORGET_MS;
    const seen = new Map<bigint, number>();
    for (const { endpoint, readyAtS } of rows) {
      if (readyAtS === undefined) continue;
      const since = readyAtS - MARGIN_S;
      seen.set(endpoint.number, Math.min(since, seen.get(endpoint.number) ?? since));
    }
    for (const [number, since] of seen) this.#since.set(number, since);
  }
}
