import type { AttemptRecord } from "../lanes/attempt-record.js";
import type { DeadPolicy } from "../lanes/dead.js";
import type { Claim, NextState } from "../lanes/lane-store.js";
import { retryWaitMs } from "../work/retry-policy.js";
import type { RetryPolicy } from "../work/retry-policy.js";
import { describeError } from "./applier.js";

/** What becomes of a delivery whose handler failed. `chance` is from 0 up to 1. */
export function afterFailure(
  { failures, lane }: Pick<Claim, "failures" | "lane">,
  { retry, dead }: { readonly retry: RetryPolicy; readonly dead: DeadPolicy | undefined },
  chance: number,
): NextState {
  const waitMs = retryWaitMs(retry, failures + 1, chance);
  if (waitMs !== undefined) return { state: "due", afterMs: waitMs, counts: true };
  const policy = dead ?? (lane === undefined ? "skip" : "halt");
  return { state: "dead", because: "exhausted", policy };
}

/** The head's failed attempt, for history. */
export function failedAttempt(
  { run, attempts }: Pick<Claim, "run" | "attempts">,
  error: unknown,
  { startedAt, durationMs }: { readonly startedAt: Date; readonly durationMs: number },
): AttemptRecord {
  const [{ sequence, round }] = run;
  return {
    sequence,
    round,
    number: attempts + 1,
    startedAt,
    durationMs: Math.round(durationMs),
    outcome: "failed",
    status: undefined,
    error: describeError(error),
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
