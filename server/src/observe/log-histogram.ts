// Every bucket is a fifth wider than the one before it: a quantile is within 10 % of the truth, whatever its size.
const BASE = 1.2;
const LOG_BASE = Math.log(BASE);
// A hundredth of a millisecond and less is one bucket; so is everything above a year.
const FIRST = Math.floor(Math.log(0.01) / LOG_BASE);
const LAST = Math.floor(Math.log(366 * 86_400_000) / LOG_BASE);

/**
 * Counts times in logarithmic buckets. Two histograms of different nodes or minutes are merged by adding their buckets,
 * which quantiles cannot be.
 */
export class LogHistogram {
  readonly #buckets = new Map<number, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    this.#raise(bucketOf(ms), 1);
  }

  /** Adds what another has counted. */
  merge(other: LogHistogram): void {
    for (const [bucket, count] of other.#buckets) this.#raise(bucket, count);
  }

  /** The time that this share of all was not longer than, in milliseconds; undefined where nothing was counted. */
  quantile(share: number): number | undefined {
    if (this.#count === 0) return undefined;
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let upTo = 0;
    for (const [bucket, count] of [...this.#buckets].toSorted(([one], [other]) => one - other)) {
      upTo += count;
      if (upTo >= wanted) return rounded(BASE ** (bucket + 0.5));
    }
    return undefined;
  }

  /** `bucket:count bucket:count`, for a column of text; empty where nothing was counted. */
  toText(): string {
    return [...this.#buckets].map(([bucket, count]) => `${bucket}:${count}`).join(" ");
  }

  /** What `toText` wrote; parts that it cannot have written are left out. */
  static fromText(text: string): LogHistogram {
    const histogram = new LogHistogram();
    for (const part of text.split(" ")) {
      const [, bucket, count] = /^(-?\d{1,4}):(\d{1,15})$/.exec(part) ?? [];
      if (bucket !== undefined && count !== undefined) histogram.#raise(Number(bucket), Number(count));
    }
    return histogram;
  }

  #raise(bucket: number, by: number): void {
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + by);
    this.#count += by;
  }
}

// A clock that was set back makes negative times; they count as the shortest.
function bucketOf(ms: number): number {
  const bucket = ms > 0 ? Math.floor(Math.log(ms) / LOG_BASE) : FIRST;
  return Math.min(LAST, Math.max(FIRST, bucket));
}

/** Three digits: the buckets know no more. */
function rounded(ms: number): number {
  return Number(ms.toPrecision(3));
}
