/** How often something may happen, for each of a bounded number of names. */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Whether it may happen once more now. */
  take(name: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(name) ?? { tokens: this.#burst, atMs: nowMs };
    this.#buckets.set(name, bucket);
    const gained = ((nowMs - bucket.atMs) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(this.#burst, bucket.tokens + gained);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }
}
