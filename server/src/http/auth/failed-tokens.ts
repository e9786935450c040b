import { isIPv6 } from "node:net";
import { RateLimits } from "../../rate-limits.js";

const MINUTE_MS = 60_000;

/** Limits failed tokens per address and minute. */
export class FailedTokens {
  readonly #limits: RateLimits;

  constructor(perMinute: number, now: () => number) {
    this.#limits = new RateLimits({ times: perMinute, perMs: MINUTE_MS, burst: perMinute }, now);
  }

  /** Seconds until the address may try again; 0 when it may now. */
  waitS(address: string): number {
    return Math.ceil(this.#limits.waitMs(groupOf(address)) / 1000);
  }

  /** Counts a wrong token of this address. */
  count(address: string): void {
    this.#limits.take(groupOf(address));
  }
}

/** Who has one IPv6 address has a whole /64 of them. */
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
