export interface Rate {
  readonly times: number;
  readonly perMs: number;
  /** How many may happen at once after a pause. */
  readonly burst: number;
}

interface Allowance {
  left: number;
  /** The monotonic time at which `left` was counted. */
  atMs: number;
}

// Many names must not fill the memory. A forgotten name starts anew, and no more.
const MOST_NAMES = 10_000;

/** Limits how often something happens under each name. */
export class RateLimits {
  readonly #rate: Rate;
  readonly #now: () => number;
  // Least recently counted first.
  readonly #allowances = new Map<string, Allowance>();

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Milliseconds until it may happen again; 0 when it may now. */
  waitMs(name: string): number {
    const { times, perMs } = this.#rate;
    const left = this.#leftOf(name);
    return left >= 1 ? 0 : ((1 - left) * perMs) / times;
  }

  /** Counts one more; false, and counts nothing, where it may not happen now. */
  take(name: string): boolean {
    const left = this.#leftOf(name);
    if (left < 1) return false;
    this.#allowances.delete(name);
    this.#allowances.set(name, { left: left - 1, atMs: this.#now() });
    if (this.#allowances.size > MOST_NAMES) this.#forgetOldest();
    return true;
  }

  #leftOf(name: string): number {
    const { times, perMs, burst } = this.#rate;
    const { left, atMs } = this.#allowances.get(name) ?? { left: burst, atMs: this.#now() };
    return Math.min(burst, left + ((this.#now() - atMs) * times) / perMs);
  }

  #forgetOldest(): void {
    for (const oldest of this.#allowances.keys()) {
      this.#allowances.delete(oldest);
      return;
    }
  }
}
