import type { Clock } from "posthorn";
import type { OutboxCensus } from "posthorn/operator";

export interface CensusReading<T = OutboxCensus> {
  readonly census: T;
  readonly ageMs: number;
}

export interface CensusLimits {
  /** A census younger than this is returned again. */
  readonly keepMs: number;
  /** How long a scrape waits for a new census before it gets the last one. */
  readonly waitMs: number;
}

const LIMITS: CensusLimits = { keepMs: 5000, waitMs: 1000 };

/** Counts what waits, one count at a time and seldom, however often Prometheus scrapes. */
export class Census<T = OutboxCensus> {
  readonly #count: () => Promise<T>;
  readonly #clock: Clock;
  readonly #limits: CensusLimits;
  readonly #onFailure: () => void;
  #last: { readonly census: T; readonly at: number } | undefined;
  #underWay: Promise<void> | undefined;

  constructor(
    count: () => Promise<T>,
    options: { readonly clock: Clock; readonly onFailure: () => void; readonly limits?: CensusLimits },
  ) {
    this.#count = count;
    this.#clock = options.clock;
    this.#onFailure = options.onFailure;
    this.#limits = options.limits ?? LIMITS;
  }

  /** The newest census; undefined before the first one. */
  async read(): Promise<CensusReading<T> | undefined> {
    const { keepMs, waitMs } = this.#limits;
    if (this.#last === undefined || this.#clock.monotonic() - this.#last.at >= keepMs) {
      this.#underWay ??= this.#renew();
      const waited = new AbortController();
      await Promise.race([this.#underWay, this.#clock.sleep(waitMs, waited.signal)]);
      waited.abort();
    }
    const last = this.#last;
    return last && { census: last.census, ageMs: this.#clock.monotonic() - last.at };
  }

  async #renew(): Promise<void> {
    try {
      const census = await this.#count();
      this.#last = { census, at: this.#clock.monotonic() };
    } catch {
      // Only counted: a scrape must be answered while the store is down.
      this.#onFailure();
    } finally {
      this.#underWay = undefined;
    }
  }
}
