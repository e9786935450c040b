import { LONGEST_TIMER_MS, systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import type { Receiver } from "../inbox/receiver.js";
import type { Verdict } from "../inbox/verdict.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import type { StopSignal } from "../stop-signal.js";
import { repeat } from "../work/repeat.js";
import type { CursorStore } from "./cursor-store.js";
import type { DeliveryLog, LogEntry } from "./delivery-log.js";
import { invalidOption, unreadable } from "./provider-api.js";
import { nextCursor, windowStart } from "./window.js";

/** What a repair is made of. */
export interface RepairOptions<SourceName extends string> {
  readonly receiver: Pick<Receiver<SourceName>, "repair">;
  readonly store: CursorStore;
  /** The provider's log, by the name of the source. */
  readonly logs: Readonly<Partial<Record<SourceName, DeliveryLog>>>;
  /** Where the first run begins. @default it repairs nothing, and remembers when it ran */
  readonly since?: Date;
  /** How far a run reaches back before the last one. @default 300,000 */
  readonly overlapMs?: number;
  /** Most entries of one run; further ones are read by the next, which follows at once. @default 20,000 */
  readonly maxEntries?: number;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

/** What became of one log. */
export interface RepairReport {
  readonly source: string;
  /** From when on the log was read; undefined on a first run that repairs nothing. */
  readonly from: Date | undefined;
  /** Up to when everything is received now. */
  readonly until: Date;
  /** Entries in the window, each event once. */
  readonly read: number;
  readonly applied: number;
  /** Known before: received by webhook, or by an earlier run. */
  readonly duplicate: number;
  /** Neither applied nor known: read again by the next run. */
  readonly unsettled: number;
  /** True when newer entries wait for the next run. */
  readonly more: boolean;
}

/** Reads what providers sent while nobody was there to receive it. */
export interface Repair {
  /** Reads every log once. A log that cannot be read is reported, does not stop the others, and makes the call reject. */
  once(signal?: StopSignal): Promise<readonly RepairReport[]>;
  /** The same at once, and then at an interval, until the signal aborts. */
  keepRepaired(options: { readonly everyMs: number; readonly signal: StopSignal }): Promise<void>;
}

const OVERLAP_MS = 300_000;
const MAX_ENTRIES = 20_000;

/**
 * Makes a repair: at start and on a schedule, the provider's log of our own downtime goes through the receiver. An event that
 * was received is known by its id, so overlap costs nothing.
 *
 * @example
 * const egress = await createEgress();
 * const repair = createRepair({
 *   receiver,
 *   store,
 *   logs: { github: githubLog({ egress, token: createAppJwt, hook: "app" }) },
 * });
 * await repair.keepRepaired({ everyMs: 300_000, signal });
 */
export function createRepair<SourceName extends string>(options: RepairOptions<SourceName>): Repair {
  const { overlapMs = OVERLAP_MS, maxEntries = MAX_ENTRIES, since } = options;
  for (const [name, value] of Object.entries({ overlapMs, maxEntries })) {
    if (!Number.isFinite(value) || value < 1)
      throw invalidOption(`${name} is ${value}; expected a number above 0.`);
  }
  if (since !== undefined && Number.isNaN(since.getTime())) throw invalidOption("since is no date.");
  const logs = Object.entries(options.logs).filter(
    (entry): entry is [SourceName, DeliveryLog] => entry[1] !== undefined,
  );
  if (logs.length === 0)
    throw invalidOption("logs is empty; expected at least one, by the name of its source.");
  return new LogRepair({ ...options, overlapMs, maxEntries, logs: new Map(logs) });
}

interface Parts<SourceName extends string> extends Omit<RepairOptions<SourceName>, "logs"> {
  readonly logs: ReadonlyMap<SourceName, DeliveryLog>;
  readonly overlapMs: number;
  readonly maxEntries: number;
}

const SETTLED: ReadonlySet<Verdict> = new Set<Verdict>([
  "applied",
  "skipped",
  "duplicate",
  "conflict",
  "stale",
]);
// The database or the pool: what follows would fare no better, and would be loaded in vain.
const BROKEN: ReadonlySet<Verdict> = new Set<Verdict>(["unavailable", "saturated"]);

class LogRepair<SourceName extends string> implements Repair {
  readonly #parts: Parts<SourceName>;
  readonly #clock: Clock;

  constructor(parts: Parts<SourceName>) {
    this.#parts = parts;
    this.#clock = parts.clock ?? systemClock;
  }

  async once(signal?: StopSignal): Promise<readonly RepairReport[]> {
    const reports: RepairReport[] = [];
    const errors: unknown[] = [];
    for (const [source, log] of this.#parts.logs) {
      try {
        reports.push(await this.#repair(source, log, signal));
      } catch (error) {
        errors.push(error);
        const message = error instanceof Error ? error.message : String(error);
        notify(this.#parts.observer, { kind: "repair_failed", source, message });
      }
    }
    if (errors.length > 0) throw errors[0];
    return reports;
  }

  async keepRepaired({ everyMs, signal }: { everyMs: number; signal: StopSignal }): Promise<void> {
    if (!(everyMs > 0 && everyMs <= LONGEST_TIMER_MS))
      throw invalidOption(`everyMs is ${everyMs}; expected milliseconds above 0, up to ${LONGEST_TIMER_MS}.`);
    await repeat({
      everyMs,
      clock: this.#clock,
      signal,
      work: async () => (await this.once(signal)).some(({ more }) => more),
      // `once` has told the observer.
      failed: () => undefined,
    });
  }

  async #repair(source: SourceName, log: DeliveryLog, signal: StopSignal | undefined): Promise<RepairReport> {
    const { store, overlapMs, since } = this.#parts;
    const startedMs = this.#clock.now();
    const name = `repair/${source}`;
    const fromMs = windowStart({
      cursorMs: instantOf(await store.readCursor(name)),
      nowMs: startedMs,
      overlapMs,
      keptMs: log.keptMs,
      sinceMs: since?.getTime(),
    });
    const found = fromMs === undefined ? NOTHING : await this.#read(log, new Date(fromMs), signal);
    const applied = await this.#apply(source, found.entries, signal);
    const reachedMs = found.more ? found.entries.at(-1)?.at.getTime() : undefined;
    const untilMs = nextCursor({ startedMs, unsettledMs: applied.unsettledAt?.getTime(), reachedMs });
    await store.writeCursor(name, new Date(untilMs).toISOString());
    const report = {
      source,
      from: fromMs === undefined ? undefined : new Date(fromMs),
      until: new Date(untilMs),
      read: found.entries.length,
      applied: applied.applied,
      duplicate: applied.duplicate,
      unsettled: applied.unsettled,
      // Without progress, the next run would find the same at once, again and again.
      more: found.more && applied.unsettled === 0 && applied.applied > 0,
    };
    notify(this.#parts.observer, { kind: "repair_done", ...report });
    return report;
  }

  /** The window's entries, oldest first, each event once. Of too many, the oldest: the next run begins after them. */
  async #read(log: DeliveryLog, since: Date, signal: StopSignal | undefined): Promise<Found> {
    const { maxEntries } = this.#parts;
    // A map keeps the order of its first entries, and a repeated delivery stays where it was seen last in time.
    const newestFirst = new Map<string, LogEntry>();
    let next: string | undefined;
    let more = false;
    do {
      const page = await log.page({ since, next, signal });
      for (const entry of page.entries) {
        if (newestFirst.has(entry.id)) continue;
        newestFirst.set(entry.id, entry);
        if (newestFirst.size <= maxEntries) continue;
        const [newest] = newestFirst.keys();
        if (newest !== undefined) newestFirst.delete(newest);
        more = true;
      }
      next = page.entries.length === 0 ? undefined : page.next;
      if (isStopped(signal)) break;
    } while (next !== undefined);
    // Cut short, the oldest are missing: nothing may be called complete.
    if (isStopped(signal))
      throw unreadable(log.title, "was not read to its end, because the repair was stopped");
    return { entries: [...newestFirst.values()].toReversed(), more };
  }

  async #apply(
    source: SourceName,
    entries: readonly LogEntry[],
    signal: StopSignal | undefined,
  ): Promise<Applied> {
    const count = { applied: 0, duplicate: 0, unsettled: 0 };
    let unsettledAt: Date | undefined;
    let broken = false;
    for (const entry of entries) {
      const verdict = broken || isStopped(signal) ? "unavailable" : await this.#one(source, entry);
      broken ||= BROKEN.has(verdict);
      if (verdict === "applied") count.applied += 1;
      else if (verdict === "duplicate") count.duplicate += 1;
      if (SETTLED.has(verdict)) continue;
      count.unsettled += 1;
      unsettledAt = unsettledAt === undefined || entry.at < unsettledAt ? entry.at : unsettledAt;
    }
    return { ...count, unsettledAt };
  }

  async #one(source: SourceName, entry: LogEntry): Promise<Verdict> {
    try {
      return await this.#parts.receiver.repair(source, entry);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      notify(this.#parts.observer, { kind: "repair_failed", source, message });
      return "unavailable";
    }
  }
}

interface Found {
  readonly entries: readonly LogEntry[];
  readonly more: boolean;
}

interface Applied {
  readonly applied: number;
  readonly duplicate: number;
  readonly unsettled: number;
  readonly unsettledAt: Date | undefined;
}

function isStopped(signal: StopSignal | undefined): boolean {
  return signal?.aborted === true;
}

const NOTHING: Found = { entries: [], more: false };

/** A cursor that cannot be read counts as none: what somebody else wrote under the name must not move the window. */
function instantOf(cursor: string | undefined): number | undefined {
  const ms = cursor === undefined ? Number.NaN : Date.parse(cursor);
  return Number.isNaN(ms) ? undefined : ms;
}
