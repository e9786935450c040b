import type { Arrival, InboxKey } from "./inbox-store.js";

/** A duplicate's receipt that is still to be written. */
export interface Touch extends InboxKey {
  readonly windowS: number | undefined;
  readonly atMs: number;
}

const MINUTE_MS = 60_000;
// A sender that repeats millions of events must not fill the memory with them.
const MOST_REMEMBERED = 10_000;

/** Gathers receipts of duplicates, at most one per event and minute: a sender gone wild must not become a write per request. */
export class Touches {
  // Oldest first.
  readonly #lastAtMs = new Map<string, number>();
  #gathered: Touch[] = [];

  get size(): number {
    return this.#gathered.length;
  }

  /** Notes a receipt; false when the event had one a moment ago. */
  add({ tenant, source, id, windowS }: Arrival, atMs: number): boolean {
    const key = JSON.stringify([tenant, source, id]);
    const lastAtMs = this.#lastAtMs.get(key);
    // A clock that was set back must not silence an event until it has caught up.
    if (lastAtMs !== undefined && Math.abs(atMs - lastAtMs) < restMs(windowS)) return false;
    this.#lastAtMs.delete(key);
    this.#lastAtMs.set(key, atMs);
    this.#forgetOldest(atMs);
    if (this.#gathered.length >= MOST_REMEMBERED) return false;
    this.#gathered.push({ tenant, source, id, windowS, atMs });
    return true;
  }

  /** Hands over the oldest that were gathered. */
  take(limit: number): Touch[] {
    return this.#gathered.splice(0, limit);
  }

  /** Takes back what could not be written. */
  putBack(touches: readonly Touch[]): void {
    this.#gathered = [...touches, ...this.#gathered].slice(0, MOST_REMEMBERED);
  }

  #forgetOldest(nowMs: number): void {
    if (this.#lastAtMs.size <= MOST_REMEMBERED) return;
    // Half of them at once: a Map keeps a hole for each deleted entry, and walks over the holes to find the oldest.
    for (const [key, atMs] of this.#lastAtMs) {
      if (this.#lastAtMs.size <= MOST_REMEMBERED / 2 && nowMs - atMs < MINUTE_MS) return;
      this.#lastAtMs.delete(key);
    }
  }
}

/** Half a window where that is shorter than a minute: the row would be purged before it was touched again. */
function restMs(windowS: number | undefined): number {
  return Math.min(MINUTE_MS, ((windowS ?? Infinity) * 1000) / 2);
}
