import { systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import { checkStore } from "../given-store.js";
import type { OptionNames } from "../known-options.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import { PosthornError } from "../posthorn-error.js";
import type { StopSignal } from "../stop-signal.js";
import { storeFailed } from "../store-failed.js";
import { repeat } from "../work/repeat.js";
import { FIRST_LIMIT, nextPace } from "./pace.js";
import type { RetentionErrorCode } from "./retention-errors.js";
import type { RetentionCensus, RetentionKind, RetentionStore } from "./retention-store.js";
import type { PlannedKind, RetentionWindows } from "./windows.js";
import { checkedWindows, checkRetentionNames, plannedKinds } from "./windows.js";

/** What retention is made of. */
export interface RetentionOptions {
  readonly store: RetentionStore;
  /** How long each kind of record is kept. @default 30 days, dead letters 90 days after they were resolved */
  readonly windows?: Partial<RetentionWindows>;
  /** At most so many rows are removed in a second. @default 10,000 */
  readonly rowsPerSecond?: number;
  readonly observer?: Observer;
  readonly clock?: Clock;
}

/** What one pass has removed. */
export interface RetentionReport {
  readonly removed: Readonly<Partial<Record<RetentionKind, number>>>;
  /** False where another process was at it, or the signal ended the pass. */
  readonly finished: boolean;
}

/** Removes what is old enough. */
export interface Retention {
  /** One pass over everything that may go, in small steps. Call it from a cron, or let `keepRemoved` do it. */
  remove(options?: { readonly signal?: StopSignal }): Promise<RetentionReport>;
  /** Passes again and again until the signal aborts. Of several processes, one at a time removes. */
  keepRemoved(options: { readonly signal: StopSignal; readonly everyMs?: number }): Promise<void>;
  /** How much room everything takes, and how far the removal is. */
  census(): Promise<RetentionCensus>;
}

const OPTIONS: OptionNames<RetentionOptions> = {
  store: true,
  windows: true,
  rowsPerSecond: true,
  observer: true,
  clock: true,
};
const DEFAULT_ROWS_PER_SECOND = 10_000;
const MOST_EVERY_MS = 60_000;
const LEAST_EVERY_MS = 1000;

/**
 * Makes what removes old records: without it, a database only grows. Never what waits, is under way, halted, parked or
 * dead and not resolved.
 *
 * @example
 * const retention = createRetention({ store, windows: { eventsMs: 7 * 86_400_000 } });
 * void retention.keepRemoved({ signal: stopping.signal });
 */
export function createRetention(options: RetentionOptions): Retention {
  checkRetentionNames("createRetention", options, OPTIONS);
  checkStore("retention", (Object(options) as Partial<RetentionOptions>).store, "removeOld");
  return new Remover(options);
}

class Remover implements Retention {
  readonly #store: RetentionStore;
  readonly #clock: Clock;
  readonly #observer: Observer | undefined;
  readonly #planned: readonly PlannedKind[];
  readonly #rowsPerSecond: number;
  readonly #everyMs: number;

  constructor({ store, windows = {}, rowsPerSecond, observer, clock = systemClock }: RetentionOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
    this.#planned = plannedKinds(checkedWindows(windows));
    this.#rowsPerSecond = checkedAbove("rowsPerSecond", rowsPerSecond ?? DEFAULT_ROWS_PER_SECOND);
    const shortest = Math.min(...this.#planned.map(({ windowMs }) => windowMs || Infinity));
    this.#everyMs = Math.max(LEAST_EVERY_MS, Math.min(MOST_EVERY_MS, shortest / 10));
  }

  async remove(options: { readonly signal?: StopSignal } = {}): Promise<RetentionReport> {
    checkRetentionNames("remove", options, { signal: true });
    const { signal } = options;
    const removed: Partial<Record<RetentionKind, number>> = {};
    for (const planned of this.#planned) {
      const pass = await this.#pass(planned, signal);
      removed[planned.kind] = pass.removed;
      if (!pass.finished) return { removed, finished: false };
    }
    return { removed, finished: true };
  }

  async keepRemoved(options: { readonly signal: StopSignal; readonly everyMs?: number }): Promise<void> {
    checkRetentionNames("keepRemoved", options, { signal: true, everyMs: true });
    const { signal, everyMs = this.#everyMs } = options;
    checkedAbove("everyMs", everyMs);
    await repeat({
      everyMs,
      clock: this.#clock,
      signal,
      work: async () => void (await this.remove({ signal })),
      failed: (error) => this.#failed(error),
    });
  }

  census(): Promise<RetentionCensus> {
    return this.#store.retention();
  }

  async #pass(
    planned: PlannedKind,
    signal: StopSignal | undefined,
  ): Promise<{ readonly removed: number; readonly finished: boolean }> {
    const clock = this.#clock;
    let removed = 0;
    let limit = FIRST_LIMIT;
    for (let after: string | undefined; ;) {
      const startedAt = clock.monotonic();
      const step = await this.#store.removeOld({ ...planned, limit, after });
      if (step.kind === "busy") return { removed, finished: false };
      removed += step.removed;
      if (step.next === undefined) return { removed, finished: true };
      const tookMs = clock.monotonic() - startedAt;
      const pace = nextPace({ limit, removed: step.removed, tookMs }, this.#rowsPerSecond);
      limit = pace.limit;
      after = step.next;
      await clock.sleep(pace.waitMs, signal);
      if (signal?.aborted === true) return { removed, finished: false };
    }
  }

  /** A pass that fails loses nothing; the next one tries again. */
  #failed(error: unknown): void {
    notify(this.#observer, storeFailed("removeOld", error));
  }
}

function checkedAbove(name: string, value: number): number {
  if (value > 0 && value < Infinity) return value;
  throw new PosthornError<RetentionErrorCode>(
    "retention_invalid",
    `createRetention: ${name} is ${value}; expected a number above 0.`,
  );
}
