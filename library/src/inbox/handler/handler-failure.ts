import type { AttemptRecord } from "../../lanes/attempt-record.js";
import type { DeadBecause, DeadPolicy } from "../../lanes/dead.js";
import type { Claim, NextState } from "../../lanes/lane-store.js";
import { PosthornError } from "../../posthorn-error.js";
import { retryWaitMs } from "../../work/retry-policy.js";
import type { RetryPolicy } from "../../work/retry-policy.js";
import { isAgain, MOST_AGAIN } from "./again.js";
import { describeThrown } from "../../thrown.js";
import type { CheckedRule } from "./error-rules.js";
import { deedFor } from "./error-rules.js";
import type { InboxErrorCode } from "../inbox-errors.js";

/** What becomes of a delivery whose handler threw. */
export type Consequence =
  /** `outcome` and `error` are those of its attempt. */
  | {
      readonly kind: "settle";
      readonly rest: NextState;
      readonly outcome: "failed" | "postponed";
      readonly error: unknown;
    }
  /** Recorded as skipped, by a transaction of its own. */
  | { readonly kind: "skip"; readonly because: string };

/** The parts of a consumer that say so. */
export interface FailurePolicy {
  readonly retry: RetryPolicy;
  readonly dead: DeadPolicy | undefined;
  readonly rules: readonly CheckedRule[];
}

/** What becomes of a delivery whose handler threw this. `chance` is from 0 up to 1. */
export function afterThrown(
  claim: Pick<Claim, "attempts" | "failures" | "lane">,
  consumer: FailurePolicy,
  { thrown, chance }: { readonly thrown: unknown; readonly chance: number },
): Consequence {
  if (isAgain(thrown)) {
    const rest: NextState = { state: "due", afterMs: thrown.afterMs, counts: false };
    return { kind: "settle", rest, outcome: "postponed", error: thrown };
  }
  const deed = deedFor(consumer.rules, thrown);
  if (deed?.kind === "skip") return { kind: "skip", because: `${deed.because} (${describeThrown(thrown)})` };
  const rest = ((): NextState => {
    switch (deed?.kind) {
      case "dead":
        return given(claim, consumer, "error_rule");
      case "pause":
        return { state: "paused", forMs: deed.forMs, because: describeThrown(thrown) };
      case "retry_now":
        if (claim.failures < deed.times) return { state: "due", afterMs: 0, counts: true };
        return retried(claim, consumer, { passed: deed.times, chance });
      case "retry_later":
        return retried(claim, { ...consumer, retry: deed.retry }, { passed: 0, chance });
      case undefined:
        return retried(claim, consumer, { passed: 0, chance });
    }
  })();
  return { kind: "settle", rest, outcome: "failed", error: thrown };
}

/** Whether a head may have been put off so often that the next time is a failure: its attempts are counted then. */
export function mayBeTooOften({ attempts, failures }: Pick<Claim, "attempts" | "failures">): boolean {
  return attempts - failures >= MOST_AGAIN;
}

/**
 * What a handler threw, or a failure in place of `again` where the event was put off too often in its round. Attempts that
 * paused the consumer, and those of workers that died, are none of the handler's wishes.
 */
export function unlessTooOften(
  { run: [{ sequence, round }] }: Pick<Claim, "run">,
  thrown: unknown,
  attempts: readonly Pick<AttemptRecord, "sequence" | "round" | "outcome">[],
): unknown {
  if (!isAgain(thrown)) return thrown;
  const postponed = attempts.filter(
    (each) => each.sequence === sequence && each.round === round && each.outcome === "postponed",
  );
  return postponed.length < MOST_AGAIN ? thrown : againTooOften(thrown);
}

/** Tried again by the policy, whose waits begin after the failures that were `passed`; or given up. */
function retried(
  claim: Pick<Claim, "failures" | "lane">,
  consumer: Pick<FailurePolicy, "retry" | "dead">,
  { passed, chance }: { readonly passed: number; readonly chance: number },
): NextState {
  const waitMs = retryWaitMs(consumer.retry, claim.failures + 1 - passed, chance);
  if (waitMs !== undefined) return { state: "due", afterMs: waitMs, counts: true };
  return given(claim, consumer, "exhausted");
}

function given(
  { lane }: Pick<Claim, "lane">,
  { dead }: Pick<FailurePolicy, "dead">,
  because: DeadBecause,
): NextState {
  return { state: "dead", because, policy: dead ?? (lane === undefined ? "skip" : "halt") };
}

function againTooOften(cause: Error): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "handler_again_exhausted",
    `The handler has asked for the event again ${MOST_AGAIN} times; from now on that is a failure. ` +
      `What it waited for: ${cause.message}`,
    { cause },
  );
}

/** The head's attempt, for history. */
export function failedAttempt(
  { run, attempts }: Pick<Claim, "run" | "attempts">,
  { outcome, error }: Pick<Extract<Consequence, { kind: "settle" }>, "outcome" | "error">,
  { startedAt, durationMs }: { readonly startedAt: Date; readonly durationMs: number },
): AttemptRecord {
  const [{ sequence, round }] = run;
  return {
    sequence,
    round,
    number: attempts + 1,
    startedAt,
    durationMs: Math.round(durationMs),
    outcome,
    status: undefined,
    error: describeThrown(error),
    answer: undefined,
    details: {
      url: "",
      address: undefined,
      requestHeaders: undefined,
      timings: undefined,
      fingerprint: fingerprintOf(error),
    },
  };
}

const FRAME = /^\s*at (?:(\S.*?) \()?(.+?):(\d+):\d+\)?$/;
const FOREIGN = /(?:^|[/\\])node_modules[/\\]|^node:|^internal[/\\]/;

/** Failures of one cause have the same: the class of the error, and the first frame of the host's own code. */
export function fingerprintOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${typeof error}`;
  const frames = (error.stack ?? "").split("\n").map((line) => FRAME.exec(line));
  const own = frames.find((frame) => frame !== null && !FOREIGN.test(frame[2] ?? ""));
  const file = own?.[2]?.split(/[/\\]/).at(-1);
  return file === undefined ? error.name : `${error.name} ${own?.[1] ?? ""}@${file}:${own?.[3]}`;
}
