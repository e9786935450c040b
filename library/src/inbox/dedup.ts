import type { Observer } from "../observer.js";
import { notify } from "../observer.js";
import { PosthornError } from "../posthorn-error.js";
import type { InboxErrorCode } from "./inbox-errors.js";

/** What a dedup call found out. */
export interface DedupVerdict {
  /** False for exactly one caller per id and window, among any number at once, in any number of processes. */
  readonly duplicate: boolean;
}

/**
 * Remembers ids. Whoever implements it promises: of all calls with one id, concurrent or not, exactly
 * one gets `duplicate: false` until the id expires; then exactly one again.
 */
export interface DedupAdapter {
  record(id: string, ttlSeconds: number): Promise<DedupVerdict> | DedupVerdict;
}

/** What `dedup` needs besides the id. */
export interface DedupOptions {
  /** How long the id is remembered, in seconds from its first receipt. Longer than the sender retries. */
  readonly ttl: number;
  readonly adapter: DedupAdapter;
  readonly observer?: Observer;
}

// A day in milliseconds is more: read as seconds, it would keep the table growing for 1,000 days.
const LONGEST_TTL_S = 2 * 365 * 24 * 3600;
const LONGEST_SCOPE = 255;

/**
 * Says whether an event was seen before, and remembers it. `type` is told to the observer; only `id` counts.
 *
 * Where the work must happen exactly once, give the adapter the transaction that does the work: a rollback
 * then forgets the id, and the next delivery does the work. Outside a transaction, work that fails after
 * `duplicate: false` is lost, because the next delivery will be called a duplicate.
 *
 * @example
 * const { duplicate } = await dedup("invoice.paid", "evt_1", { ttl: 14 * 24 * 3600, adapter });
 */
export async function dedup(type: string, id: string, options: DedupOptions): Promise<DedupVerdict> {
  const { ttl, adapter, observer } = options;
  checkDedup(id, ttl);
  const { duplicate } = await adapter.record(id, ttl);
  notify(observer, { kind: "dedup_verdict", type, duplicate });
  return { duplicate };
}

/** Throws unless this id can be remembered for this long; adapters check too, because they can be called directly. */
export function checkDedup(id: string, ttlSeconds: number): void {
  if (typeof id !== "string" || id === "")
    throw invalid(`the id is ${id === "" ? "empty" : `of type ${typeof id}`}`);
  if (typeof ttlSeconds !== "number" || !(ttlSeconds > 0 && ttlSeconds <= LONGEST_TTL_S)) {
    const hint =
      ttlSeconds > LONGEST_TTL_S && Number.isFinite(ttlSeconds)
        ? `. Were milliseconds meant? In seconds they are ${ttlSeconds / 1000}`
        : "";
    throw invalid(
      `ttl is ${String(ttlSeconds)}; expected seconds above 0, up to ${LONGEST_TTL_S}, which is two years${hint}`,
    );
  }
}

/** The scope of ids, empty where none was given; throws unless every store can keep it. */
export function checkedScope(scope: string | undefined): string {
  if (scope === undefined) return "";
  const fits = typeof scope === "string" && scope !== "" && scope.length <= LONGEST_SCOPE;
  if (fits && /^[\x20-\x7E]+$/.test(scope)) return scope;
  const found = typeof scope === "string" ? JSON.stringify(scope.slice(0, 40)) : `of type ${typeof scope}`;
  throw invalid(`scope is ${found}; expected 1 to ${LONGEST_SCOPE} visible ASCII characters`);
}

function invalid(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `dedup cannot work: ${found}.`);
}
