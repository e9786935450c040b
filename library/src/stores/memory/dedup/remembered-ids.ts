/** One id and when it expires, between its neighbours in the order of first receipt. */
interface Remembered {
  readonly key: string;
  readonly expiresAt: number;
  older: Remembered | undefined;
  newer: Remembered | undefined;
}

/**
 * Ids in the order of their first receipt. Every step takes the same time however many there are: a bare Map
 * would have to walk over all that was deleted before it finds its first entry, on every eviction.
 */
export class RememberedIds {
  readonly #byKey = new Map<string, Remembered>();
  #oldest: Remembered | undefined;
  #newest: Remembered | undefined;
  // Goes round and round, a little with every call: no timer to stop, no pause to look at all of them.
  #hand: Remembered | undefined;

  get size(): number {
    return this.#byKey.size;
  }

  expiryOf(key: string): number | undefined {
    return this.#byKey.get(key)?.expiresAt;
  }

  /** Adds an id as the newest; one that was there takes its new place. */
  add(key: string, expiresAt: number): void {
    const known = this.#byKey.get(key);
    if (known !== undefined) this.#remove(known);
    const added: Remembered = { key, expiresAt, older: this.#newest, newer: undefined };
    if (this.#newest === undefined) this.#oldest = added;
    else this.#newest.newer = added;
    this.#newest = added;
    this.#byKey.set(key, added);
  }

  /** Forgets the id that was received first, and returns its expiry. */
  evictOldest(): number | undefined {
    const oldest = this.#oldest;
    if (oldest !== undefined) this.#remove(oldest);
    return oldest?.expiresAt;
  }

  /** Looks at the next few ids and forgets those that have expired. */
  sweep(now: number, steps: number): void {
    for (let step = 0; step < steps; step++) {
      const looked = this.#hand ?? this.#oldest;
      if (looked === undefined) return;
      this.#hand = looked.newer;
      if (looked.expiresAt <= now) this.#remove(looked);
    }
  }

  #remove(gone: Remembered): void {
    if (gone.older === undefined) this.#oldest = gone.newer;
    else gone.older.newer = gone.newer;
    if (gone.newer === undefined) this.#newest = gone.older;
    else gone.newer.older = gone.older;
    if (this.#hand === gone) this.#hand = gone.newer;
    this.#byKey.delete(gone.key);
  }
}
