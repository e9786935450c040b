import type { StopSignal } from "../stop-signal.js";
import type { DeliveryLog, LogEntry } from "./delivery-log.js";
import type { Unsettled } from "./progress.js";
import { unreadable } from "./provider-api.js";
import type { Window } from "./window.js";

export interface Reading extends Window {
  /** Entries of earlier runs that are to be tried again. */
  readonly unsettled: readonly Unsettled[];
  /** Most entries that were not looked at before. */
  readonly maxEntries: number;
  readonly signal: StopSignal | undefined;
}

/** What a log has for a run. Each event is there once. */
export interface Found {
  /** Those of earlier runs, in the order of their names. */
  readonly earlier: readonly LogEntry[];
  /** Those of the window, oldest first. */
  readonly later: readonly LogEntry[];
  /** Those of earlier runs that wait among what was cut off. */
  readonly waiting: readonly Unsettled[];
  /** Those of earlier runs that the log no longer has. */
  readonly lost: readonly Unsettled[];
  /** More entries are in the window than a run may read: the newest are left out. */
  readonly isCut: boolean;
}

/** Reads a log to the beginning of its window; undefined where it was stopped before that, so that the oldest are missing. */
export async function readWindow(log: DeliveryLog, reading: Reading): Promise<Found | undefined> {
  const { fromMs, unsettled, signal } = reading;
  const since = new Date(Math.min(fromMs, ...unsettled.map(({ atMs }) => atMs)));
  const kept = new Kept(reading);
  const asked = new Set<string>();
  let next: string | undefined;
  do {
    if (next !== undefined) asked.add(next);
    const page = await log.page({ since, next, signal });
    for (const entry of page.entries) kept.add(entry);
    next = page.entries.length === 0 ? undefined : page.next;
    if (signal?.aborted === true) return undefined;
    // Cursors that go in a circle would be followed for ever, with a request for each step.
    if (next !== undefined && asked.has(next))
      throw unreadable(log.title, "gave the same place for the next page twice: its list has no end", {
        reach: "api",
      });
  } while (next !== undefined);
  return kept.found();
}

/** Entries as they come, newest first. Of too many, the oldest stay: the next run begins after them. */
class Kept {
  readonly #reading: Reading;
  readonly #isEarlier: ReadonlySet<string>;
  readonly #seen = new Set<string>();
  // A map keeps the order of its first entries, and a repeated delivery stays where it was seen last in time.
  readonly #newestFirst = new Map<string, LogEntry>();
  #isCut = false;
  #newer = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#isEarlier = new Set(reading.unsettled.map(({ id }) => id));
  }

  add(entry: LogEntry): void {
    const isEarlier = this.#isEarlier.has(entry.id);
    if (this.#newestFirst.has(entry.id) || !(isEarlier || entry.at.getTime() >= this.#reading.fromMs)) return;
    if (isEarlier) this.#seen.add(entry.id);
    this.#newestFirst.set(entry.id, entry);
    if (this.#isNewer(entry)) this.#newer += 1;
    // Those of the overlap do not count: where they alone were as many, no run would ever pass them.
    while (this.#newer > this.#reading.maxEntries) this.#dropNewest();
  }

  found(): Found {
    const { unsettled } = this.#reading;
    const has = ({ id }: Unsettled): boolean => this.#newestFirst.has(id);
    return {
      earlier: unsettled.flatMap(({ id }) => this.#newestFirst.get(id) ?? []),
      later: [...this.#newestFirst.values()].filter(({ id }) => !this.#isEarlier.has(id)).toReversed(),
      waiting: unsettled.filter((each) => this.#seen.has(each.id) && !has(each)),
      lost: unsettled.filter(({ id }) => !this.#seen.has(id)),
      isCut: this.#isCut,
    };
  }

  #isNewer({ at }: LogEntry): boolean {
    return at.getTime() > this.#reading.baseMs;
  }

  #dropNewest(): void {
    const [newest] = this.#newestFirst.values();
    if (newest === undefined) return;
    this.#newestFirst.delete(newest.id);
    if (this.#isNewer(newest)) this.#newer -= 1;
    this.#isCut = true;
  }
}
