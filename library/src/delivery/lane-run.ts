import { reach } from "#faults";
import type { Clock } from "../clock.js";
import type { DeadPolicy } from "../lanes/dead.js";
import { deliveryIdOf } from "../lanes/delivery-id.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import type { SignedHeaders } from "../signature/sign.js";
import { retryWaitMs } from "../work/retry-policy.js";
import { recordOf, requestHeaders } from "./attempt.js";
import type { Trial } from "./attempt.js";
import type { AttemptRecord } from "../lanes/attempt-record.js";
import type { Claim, ClaimedDelivery, NextState, Settlement } from "../lanes/lane-store.js";
import type { Egress, EgressAnswer, OutgoingRequest } from "./egress/egress.js";
import type { KnownEndpoint } from "./known-endpoints.js";
import type { Paces } from "./paces.js";
import { transition } from "./transition.js";

/** A claim that this process holds, and until when it is safe to send for it, by the process's own monotonic clock. */
export interface HeldClaim {
  readonly claim: Claim;
  readonly endsAt: number;
}

/** What came of a claim. Whether the worker wants the lane's next head is decided when the result is settled. */
export type RunResult = Omit<Settlement, "next">;

export interface RunParts {
  readonly egress: Egress;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly deadlineMs: number;
  /** Between the end of an attempt and the end of its lease: time for the settlement to arrive. */
  readonly marginMs: number;
  /** Told of each attempt: how quickly an endpoint answers decides how many slots it may hold. */
  readonly paces: Pick<Paces, "begin" | "end">;
  /** True when no further event of a run should be sent. */
  readonly isStopping: () => boolean;
}

// After a crash, everything that was sent and not settled is sent again: a run stays short.
const LONGEST_RUN_MS = 100;

/**
 * Sends a claim's deliveries in order, each when the one before was acknowledged, and says what came of them.
 * The first that is not acknowledged ends the run: no later event of the lane may be sent before it.
 */
export async function runClaim(
  parts: RunParts,
  held: HeldClaim,
  known: KnownEndpoint | undefined,
): Promise<RunResult> {
  const { claim } = held;
  const attempts: AttemptRecord[] = [];
  const startedAt = parts.clock.monotonic();
  let after = claim.after;
  let acknowledged = 0;
  for (const delivery of claim.run) {
    const isFirst = acknowledged === 0;
    const overAt = isFirst ? Infinity : startedAt + LONGEST_RUN_MS;
    const begunAt = parts.clock.monotonic();
    if (known === undefined || !mayBegin(parts, held, { isFirst, overAt, begunAt })) break;
    const step = await tryOnce(parts, known, {
      claim,
      delivery,
      after,
      number: isFirst ? claim.attempts + 1 : 1,
      failures: isFirst ? claim.failures : 0,
      runMs: begunAt - startedAt,
      begunAt,
    });
    if (step.record !== undefined) attempts.push(step.record);
    if (step.rest !== "delivered") return { claim, attempts, acknowledged, rest: step.rest };
    acknowledged++;
    after = delivery.sequence;
  }
  return { claim, attempts, acknowledged, rest: undefined };
}

/** Whether an attempt that takes all of its time would still end within the lease. */
function mayBegin(
  { deadlineMs, marginMs, isStopping }: RunParts,
  { endsAt }: HeldClaim,
  { isFirst, overAt, begunAt }: Readonly<{ isFirst: boolean; overAt: number; begunAt: number }>,
): boolean {
  if (!isFirst && isStopping()) return false;
  return begunAt <= overAt && begunAt + deadlineMs + marginMs <= endsAt;
}

interface Try extends Trial {
  readonly claim: Pick<Claim, "kind" | "id" | "lane">;
  readonly failures: number;
  /** How long the claim has been under way. */
  readonly runMs: number;
  /** When the lease was checked: the deadline counts from there, whatever holds this process up meanwhile. */
  readonly begunAt: number;
}

interface Step {
  readonly rest: NextState | "delivered";
  /** Undefined when nothing was sent. */
  readonly record: AttemptRecord | undefined;
}

async function tryOnce(parts: RunParts, { endpoint, signer }: KnownEndpoint, given: Try): Promise<Step> {
  const { delivery, failures, runMs, begunAt } = given;
  if (isExpired(delivery, runMs))
    return { rest: { state: "cancelled", because: "expired" }, record: undefined };
  const policy = policyOf(endpoint.dead, given.claim);
  const startedAt = new Date(parts.clock.now());
  let headers: SignedHeaders;
  try {
    if (signer === undefined) throw new Error("no secret of the endpoint can be read");
    headers = requestHeaders(signer, given, startedAt);
  } catch {
    // Every further attempt would fail like this one.
    return { rest: { state: "dead", because: "unsendable", policy }, record: undefined };
  }
  const { clock, deadlineMs } = parts;
  const request: OutgoingRequest = {
    url: endpoint.url,
    headers,
    body: delivery.event.body,
    deadlineMs,
    leftMs: () => begunAt + deadlineMs - clock.monotonic(),
  };
  reach("post.before_send");
  const begun = parts.paces.begin(endpoint.id, clock.monotonic());
  let result: EgressAnswer;
  try {
    result = await parts.egress.post(request);
  } catch {
    // An egress that throws, against its promise, must not leave the lane leased and held by nobody. The request may have
    // been sent.
    const durationMs = parts.clock.now() - startedAt.getTime();
    result = { outcome: { kind: "unknown", reason: "reset" }, answer: undefined, durationMs };
  }
  parts.paces.end(begun, clock.monotonic());
  reach("post.after_answer");
  tell(parts.observer, given, result, endpoint);
  const waitMs = retryWaitMs(endpoint.retry, failures + 1, parts.random());
  return {
    rest: transition(result.outcome, { waitMs, policy }),
    record: recordOf(given, startedAt, { request, result }),
  };
}

function isExpired({ expiresInMs }: ClaimedDelivery, runMs: number): boolean {
  return expiresInMs !== undefined && expiresInMs <= runMs;
}

/** Nothing waits for a delivery without a lane. */
function policyOf(given: DeadPolicy | undefined, { lane }: Pick<Claim, "lane">): DeadPolicy {
  return lane === undefined ? "skip" : (given ?? "halt");
}

function tell(
  observer: Observer | undefined,
  trial: Try,
  result: EgressAnswer,
  { id, tenant }: KnownEndpoint["endpoint"],
): void {
  if (observer === undefined) return;
  const { event } = trial.delivery;
  const { outcome, durationMs } = result;
  notify(observer, {
    kind: "delivery_attempted",
    tenant,
    endpoint: id,
    delivery: deliveryIdOf(
      trial.claim.kind === "lane"
        ? { kind: "lane", lane: trial.claim.id, sequence: trial.delivery.sequence }
        : { kind: "loose", id: trial.claim.id },
    ),
    type: event.type,
    id: event.id,
    attempt: trial.number,
    outcome: outcome.kind,
    status: "status" in outcome ? outcome.status : undefined,
    error: "reason" in outcome ? outcome.reason : undefined,
    durationMs,
  });
}
