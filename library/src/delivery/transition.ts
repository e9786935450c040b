import type { DeadPolicy } from "../lanes/dead.js";
import type { NextState } from "../lanes/lane-store.js";
import type { Outcome } from "./outcome.js";

/** What the decision depends on besides the outcome. */
export interface Circumstances {
  /** By the retry policy; undefined when it allows no further attempt. */
  readonly waitMs: number | undefined;
  /** What a dead delivery does to its lane. */
  readonly policy: DeadPolicy;
}

// A receiver may ask for so little time that retries would spin, or for more than anybody would wait.
const LEAST_RETRY_AFTER_MS = 1000;
const MOST_RETRY_AFTER_MS = 24 * 3600 * 1000;

/** Says what becomes of a delivery after an attempt. Pure and total. */
export function transition(outcome: Outcome, { waitMs, policy }: Circumstances): NextState | "delivered" {
  switch (outcome.kind) {
    case "acknowledged":
      return "delivered";
    case "forbidden":
      return { state: "dead", because: "forbidden", policy };
    case "refused":
      return afterRefusal(outcome, { waitMs, policy });
    case "unreachable":
    case "unknown":
      return again(waitMs, policy);
  }
}

function afterRefusal(
  { status, retryAfterMs }: Extract<Outcome, { kind: "refused" }>,
  { waitMs, policy }: Circumstances,
): NextState | "delivered" {
  switch (meaningOf(status)) {
    case "acknowledged":
      return "delivered";
    case "gone":
      return { state: "disabled", because: `it answered ${status}` };
    case "refused":
      return { state: "dead", because: "refused", policy };
    case "retry":
      return again(waitMs === undefined ? undefined : (clamped(retryAfterMs) ?? waitMs), policy);
  }
}

/** What a status says about the next attempt. */
type StatusMeaning =
  | "acknowledged"
  /** Try again by the retry policy, or when Retry-After says. */
  | "retry"
  /** The receiver refuses the same bytes again: no attempt can change that. */
  | "refused"
  /** The receiver asks never to be called again. */
  | "gone";

/**
 * The statuses that mean something else than "try again". Most refusals heal: a deploy that answers 404, a secret that is
 * rotated late (401, 403), a validation that is mended (400, 422). A delivery that dies early stops its lane until
 * a person looks, so only what cannot heal by waiting is final.
 */
const MEANINGS: ReadonlyMap<number, StatusMeaning> = new Map([
  [410, "gone"],
  // Too large for the receiver: body, URL, headers. None of it gets smaller.
  [413, "refused"],
  [414, "refused"],
  [431, "refused"],
]);

function meaningOf(status: number): StatusMeaning {
  if (status >= 200 && status <= 299) return "acknowledged";
  return MEANINGS.get(status) ?? "retry";
}

function clamped(retryAfterMs: number | undefined): number | undefined {
  if (retryAfterMs === undefined) return undefined;
  return Math.min(Math.max(retryAfterMs, LEAST_RETRY_AFTER_MS), MOST_RETRY_AFTER_MS);
}

function again(waitMs: number | undefined, policy: DeadPolicy): NextState {
  if (waitMs === undefined) return { state: "dead", because: "exhausted", policy };
  return { state: "due", afterMs: waitMs, counts: true };
}
