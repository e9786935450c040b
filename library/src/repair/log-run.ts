import type { Clock } from "../clock.js";
import type { Receiver, Repairable } from "../inbox/receiver.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import type { StopSignal } from "../stop-signal.js";
import type { CursorStore } from "./cursor-store.js";
import type { DeliveryLog, LogEntry, LoggedRequest } from "./delivery-log.js";
import { carry, MOST_UNSETTLED, parseProgress, progressText } from "./progress.js";
import type { Carried, Progress, Unsettled } from "./progress.js";
import { restOf, unreadable } from "./provider-api.js";
import { readWindow } from "./read-window.js";
import type { Found } from "./read-window.js";
import { trialOf, trialOfError } from "./trial.js";
import type { Trial } from "./trial.js";
import { walk } from "./walk.js";
import type { Walked } from "./walk.js";
import { afterRun, windowOf } from "./window.js";
import type { Window } from "./window.js";

/** What became of one log. `read` is the sum of the figures below it. */
export interface RepairReport {
  readonly source: string;
  /** The log's own name: a source may have several. */
  readonly log: string;
  /** From when on the log was read; undefined on a first run that repairs nothing. */
  readonly from: Date | undefined;
  /** Up to when everything was looked at: it is received now, but for what is unsettled. */
  readonly until: Date;
  /** Entries in the window, each event once, and earlier ones that were unsettled. */
  readonly read: number;
  /** Taken in: applied by a handler, or stored for a worker. */
  readonly applied: number;
  /** Known before: received by webhook, or by an earlier run. */
  readonly duplicate: number;
  /** Of a type that nobody handles, or older than what was handled of its resource. */
  readonly skipped: number;
  /** Older than what the receiver remembers: they may have been applied and forgotten. An operator may redrive them. */
  readonly stale: number;
  /** Neither applied nor known: tried again by the next run. */
  readonly unsettled: number;
  /** True when newer entries wait for the next run, which may follow at once. */
  readonly more: boolean;
}

export interface LogRunParts {
  readonly source: string;
  readonly log: DeliveryLog;
  /** Tells of the source. */
  readonly repairable: Repairable;
  readonly receiver: Pick<Receiver, "repair">;
  readonly store: CursorStore;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  readonly since: Date | undefined;
  readonly overlapMs: number;
  readonly maxEntries: number;
}

const NOTHING: Found = { earlier: [], later: [], waiting: [], lost: [], isCut: false };
const NONE: Walked = {
  counts: { applied: 0, duplicate: 0, skipped: 0, stale: 0 },
  failed: [],
  untried: [],
  hasEnded: true,
};

/** Repairs a source by one log, run by run. */
export class LogRun {
  readonly #parts: LogRunParts;
  /** By the monotonic clock: when the provider may be asked again. */
  #restsUntil = -Infinity;

  constructor(parts: LogRunParts) {
    this.#parts = parts;
  }

  /**
   * Where the run remembers how far it has read. With the tenant and the log's name: two logs that shared a cursor would each
   * skip what the other has read.
   */
  get cursorName(): string {
    const { source, log, repairable } = this.#parts;
    return `repair/${JSON.stringify([repairable.tenant, source, log.name])}`;
  }

  /** Undefined where it was stopped before it knew what there is. */
  async run(signal: StopSignal | undefined): Promise<RepairReport | undefined> {
    const { log, clock, store } = this.#parts;
    const restMs = this.#restsUntil - clock.monotonic();
    if (restMs > 0)
      throw unreadable(log.title, `asked us to wait, for another ${Math.ceil(restMs / 1000)} s`);
    const startedMs = clock.now();
    const before = parseProgress(await store.readCursor(this.cursorName));
    const window = this.#windowOf(before, startedMs);
    const found = await this.#read(window, before, signal);
    if (found === undefined) return undefined;
    const tryOne = (entry: LogEntry): Promise<Trial> => this.#try(entry, signal);
    // In two parts: earlier ones that fail again must not keep the run from what is new.
    const earlier = await walk(found.earlier, tryOne, () => true);
    const later = earlier.hasEnded
      ? { ...NONE, untried: found.later }
      : await walk(found.later, tryOne, ({ alone }) => !alone);
    return this.#end({ startedMs, window, found, earlier, later });
  }

  /** Tells why a run, or a part of it, has failed. */
  failed(error: unknown): void {
    const { source, log, observer, clock } = this.#parts;
    this.#restsUntil = Math.max(this.#restsUntil, clock.monotonic() + restOf(error));
    const message = error instanceof Error ? error.message : String(error);
    notify(observer, { kind: "repair_failed", source, log: log.name, message });
  }

  #windowOf(before: Progress | undefined, nowMs: number): Window | undefined {
    const { log, overlapMs, since, repairable } = this.#parts;
    const { windowS } = repairable;
    return windowOf({
      cursorMs: before?.cursorMs,
      nowMs,
      overlapMs,
      keptMs: log.keptMs,
      rememberedMs: windowS === undefined ? undefined : windowS * 1000,
      sinceMs: since?.getTime(),
    });
  }

  async #read(
    window: Window | undefined,
    before: Progress | undefined,
    signal: StopSignal | undefined,
  ): Promise<Found | undefined> {
    if (window === undefined) return NOTHING;
    const { log, maxEntries } = this.#parts;
    try {
      return await readWindow(log, { ...window, unsettled: before?.unsettled ?? [], maxEntries, signal });
    } catch (error) {
      // A normal stop is nothing that anybody has to be told of.
      if (isStopped(signal)) return undefined;
      throw error;
    }
  }

  async #try(entry: LogEntry, signal: StopSignal | undefined): Promise<Trial> {
    if (isStopped(signal)) return { kind: "ended" };
    const { source, receiver, overlapMs } = this.#parts;
    let thrower: "log" | "receiver" = "receiver";
    const load = async (): Promise<LoggedRequest> => {
      try {
        return await entry.load();
      } catch (error) {
        thrower = "log";
        throw error;
      }
    };
    // Their clock may be ahead of ours: by ours, the event may have come as much earlier, and be forgotten as much sooner.
    const sentAt = new Date(entry.at.getTime() - overlapMs);
    try {
      return trialOf(await receiver.repair(source, { id: entry.id, sentAt, load }));
    } catch (error) {
      if (isStopped(signal)) return { kind: "ended" };
      this.failed(error);
      return trialOfError(error, thrower);
    }
  }

  async #end({ startedMs, window, found, earlier, later }: Ended): Promise<RepairReport> {
    const { source, log, store, observer } = this.#parts;
    const carried = carry(
      [...found.waiting, ...earlier.untried.map(named), ...earlier.failed.map(named)],
      later.failed.map(named),
    );
    this.#tellLoss(found, carried);
    const held = [...later.untried.map(({ at }) => at.getTime()), carried.heldMs ?? Infinity];
    const { untilMs, cursorMs } = afterRun({
      startedMs,
      baseMs: window?.baseMs,
      newestMs: newestOf(found.later),
      heldMs: leastOf(held),
      isCut: found.isCut,
    });
    await store.writeCursor(this.cursorName, progressText({ cursorMs, unsettled: carried.unsettled }));
    const report: RepairReport = {
      source,
      log: log.name,
      from: window === undefined ? undefined : new Date(window.fromMs),
      until: new Date(untilMs),
      read: found.earlier.length + found.later.length + found.waiting.length,
      ...sumOf(earlier, later),
      unsettled:
        found.waiting.length +
        [earlier, later].reduce((sum, { failed, untried }) => sum + failed.length + untried.length, 0),
      // Without progress, the next run would find the same at once, again and again.
      more: found.isCut && later.untried.length === 0 && cursorMs > (window?.baseMs ?? startedMs),
    };
    notify(observer, { kind: "repair_done", ...report });
    return report;
  }

  #tellLoss({ lost }: Found, { heldMs }: Carried): void {
    const { log } = this.#parts;
    const ids = lost.slice(0, MOST_TOLD).map(({ id }) => id);
    if (lost.length > 0)
      this.failed(
        unreadable(
          log.title,
          `no longer has ${lost.length} deliveries that were not applied, and will not be: ${ids.join(", ")}`,
        ),
      );
    if (heldMs !== undefined)
      this.failed(
        unreadable(
          log.title,
          `has more than ${MOST_UNSETTLED} deliveries that cannot be applied: nothing newer than ` +
            `${new Date(heldMs).toISOString()} counts as read until some of them can`,
        ),
      );
  }
}

interface Ended {
  readonly startedMs: number;
  readonly window: Window | undefined;
  readonly found: Found;
  readonly earlier: Walked;
  readonly later: Walked;
}

const MOST_TOLD = 10;

function named({ id, at }: LogEntry): Unsettled {
  return { id, atMs: at.getTime() };
}

// Not by spreading: a window may have more entries than a call may have arguments.
function leastOf(times: readonly number[]): number | undefined {
  const least = times.reduce((one, other) => Math.min(one, other), Infinity);
  return least === Infinity ? undefined : least;
}

function newestOf(entries: readonly LogEntry[]): number | undefined {
  const newest = entries.reduce((time, { at }) => Math.max(time, at.getTime()), -Infinity);
  return newest === -Infinity ? undefined : newest;
}

function sumOf({ counts: one }: Walked, { counts: other }: Walked): Walked["counts"] {
  return {
    applied: one.applied + other.applied,
    duplicate: one.duplicate + other.duplicate,
    skipped: one.skipped + other.skipped,
    stale: one.stale + other.stale,
  };
}

function isStopped(signal: StopSignal | undefined): boolean {
  return signal?.aborted === true;
}
