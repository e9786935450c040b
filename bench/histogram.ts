const SUB_BUCKETS = 64;
const PICOSECONDS_PER_MS = 1e9;
const MAX_PICOSECONDS = 2 ** 52;
const BUCKETS = SUB_BUCKETS * 48;

/**
 * Latencies in buckets that grow with the value: 12 kB whatever the load, every quantile within 1 %.
 * A list of single values would be megabytes at database rates, and its garbage collection would be measured too.
 */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  get total(): number {
    return this.#total;
  }

  record(latencyMs: number, count = 1): void {
    const bucket = bucketOf(latencyMs * PICOSECONDS_PER_MS);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
  }

  add(other: Histogram): void {
    for (const [bucket, count] of other.#counts.entries()) {
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    }
    this.#total += other.#total;
  }

  /** The latency in ms that a share of the records does not exceed (nearest rank); NaN when nothing was recorded. */
  quantile(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#total));
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return middleOf(bucket) / PICOSECONDS_PER_MS;
    }
    return Number.NaN;
  }
}

function bucketOf(picoseconds: number): number {
  const value = Math.floor(Math.min(Math.max(picoseconds, 0), MAX_PICOSECONDS));
  const shift = Math.max(0, bitLength(value) - 7);
  return SUB_BUCKETS * shift + Math.floor(value / 2 ** shift);
}

function middleOf(bucket: number): number {
  const shift = Math.max(0, Math.floor(bucket / SUB_BUCKETS) - 1);
  const lowest = (bucket - SUB_BUCKETS * shift) * 2 ** shift;
  return lowest + (2 ** shift - 1) / 2;
}

/** Math.log2 rounds up just under a power of two and would name the wrong bucket there. */
function bitLength(value: number): number {
  const high = Math.floor(value / 2 ** 32);
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(value);
}
