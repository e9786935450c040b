import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import { checkDedup } from "../../../inbox/dedup.js";
import type { DedupAdapter, DedupVerdict } from "../../../inbox/dedup.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { storedId } from "../../../inbox/arrival/stored-id.js";
import type { OptionNames } from "../../../known-options.js";
import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import { PosthornError } from "../../../posthorn-error.js";
import { checkStoreOptions } from "../../../store-options.js";
import { warnInProduction } from "../client/not-durable.js";
import type { Environment } from "../../../environment.js";
import { RememberedIds } from "./remembered-ids.js";

/** How much a memory dedup may hold, and whom it tells. */
export interface MemoryDedupOptions {
  /** Beyond this many ids the oldest is forgotten, and the observer is notified. About 300 bytes each. */
  readonly maxEntries: number;
  readonly clock?: Clock;
  readonly observer?: Observer;
  /** Warns when "production". @default NODE_ENV, where the runtime has one */
  readonly environment?: Environment;
}

/** A dedup that lives in this process. Its type says what it cannot do: join the host's transaction. */
export interface MemoryDedup extends DedupAdapter {
  readonly sharesHostTransaction: false;
  record(id: string, ttlSeconds: number): Promise<DedupVerdict>;
}

const OPTIONS: OptionNames<MemoryDedupOptions> = {
  maxEntries: true,
  clock: true,
  observer: true,
  environment: true,
};
// More than one: expired ids must go faster than new ones come, else they would crowd out those still needed.
const SWEPT_PER_CALL = 2;
// A Map of more throws, and the event that brings one too many would be lost to it.
const MOST_ENTRIES = 2 ** 24 - 1;

class BoundedMemory implements MemoryDedup {
  readonly sharesHostTransaction = false;
  readonly #maxEntries: number;
  readonly #clock: Clock;
  readonly #observer: Observer | undefined;
  // By the monotonic clock: a wall clock that jumps ahead would forget everything at once.
  readonly #ids = new RememberedIds();

  constructor({ maxEntries, clock = systemClock, observer }: MemoryDedupOptions) {
    this.#maxEntries = maxEntries;
    this.#clock = clock;
    this.#observer = observer;
  }

  async record(id: string, ttlSeconds: number): Promise<DedupVerdict> {
    checkDedup(id, ttlSeconds);
    // Kept in its stored form, else a thousand ids of a megabyte each would be a gigabyte.
    const { id: key } = await storedId(id);
    // From here on nothing awaits: look and write are one step for every concurrent caller.
    const now = this.#clock.monotonic();
    const expiresAt = this.#ids.expiryOf(key);
    if (expiresAt !== undefined && now < expiresAt) return { duplicate: true };
    this.#ids.sweep(now, SWEPT_PER_CALL);
    this.#ids.add(key, now + ttlSeconds * 1000);
    if (this.#ids.size > this.#maxEntries) this.#evict(now);
    return { duplicate: false };
  }

  #evict(now: number): void {
    const remainingMs = (this.#ids.evictOldest() ?? now) - now;
    if (remainingMs <= 0) return;
    const maxEntries = this.#maxEntries;
    notify(this.#observer, { kind: "dedup_evicted", store: "memory", maxEntries, remainingMs });
  }
}

/**
 * Remembers ids in this process: for tests, for development, and beside an application that is idempotent
 * anyway. Two processes know nothing of each other, and a restart forgets everything.
 *
 * @example
 * const adapter = memoryDedup({ maxEntries: 10_000 });
 */
export function memoryDedup(options: MemoryDedupOptions): MemoryDedup {
  checkStoreOptions("memoryDedup", options, OPTIONS);
  const { maxEntries, environment, observer } = options;
  if (!Number.isInteger(maxEntries) || maxEntries < 1 || maxEntries > MOST_ENTRIES) {
    throw new PosthornError<StoreErrorCode>(
      "store_option_invalid",
      `memoryDedup: maxEntries is ${String(maxEntries)}; expected a whole number from 1 to ${MOST_ENTRIES}.`,
    );
  }
  warnInProduction({ store: "memoryDedup", environment, observer });
  return new BoundedMemory(options);
}
