import { isIPv6 } from "node:net";

interface Bucket {
  left: number;
  /** When `left` was right, in milliseconds that only grow. */
  atMs: number;
}

// An attacker with many addresses must not fill the memory; forgetting one gives it a new start, and no more.
const MOST_ADDRESSES = 10_000;

/** Counts failed tokens by address: so many a minute, and then none until some time has passed. */
export class FailedTokens {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Seconds until the address may try again; 0 when it may now. */
  waitS(address: string): number {
    const bucket = this.#buckets.get(groupOf(address));
    if (bucket === undefined) return 0;
    const left = this.#refilled(bucket);
    return left >= 1 ? 0 : Math.ceil(((1 - left) * 60) / this.#perMinute);
  }

  /** A token of this address was wrong. */
  count(address: string): void {
    const group = groupOf(address);
    const bucket = this.#buckets.get(group) ?? { left: this.#perMinute, atMs: this.#now() };
    const left = Math.max(0, this.#refilled(bucket) - 1);
    // Written at the end: the one that has failed the longest time ago is the first to be forgotten.
    this.#buckets.delete(group);
    this.#buckets.set(group, { left, atMs: this.#now() });
    if (this.#buckets.size <= MOST_ADDRESSES) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      break;
    }
  }

  #refilled({ left, atMs }: Bucket): number {
    return Math.min(this.#perMinute, left + ((this.#now() - atMs) * this.#perMinute) / 60_000);
  }
}

/** Whoever has one address of IPv6 has the 2⁶⁴ beside it. */
function groupOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const after = tail?.split(":").filter((group) => group !== "") ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => "0");
  return [...groups, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(":");
}
