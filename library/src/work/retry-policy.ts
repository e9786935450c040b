import { unknownOption } from "../known-options.js";
import type { OptionNames } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import type { WorkErrorCode } from "./work-errors.js";

/** When a failed attempt is made again. */
export type RetryPolicy =
  | {
      readonly kind: "exponential";
      /** Before the second attempt; each further wait is `factor` times as long. */
      readonly firstMs: number;
      readonly factor: number;
      readonly capMs: number;
      /** In all, the first one included. */
      readonly maxAttempts: number;
      /** 0.2 spreads each wait between 80% and 120%, so that those who failed together do not come back together. */
      readonly jitter: number;
    }
  | {
      readonly kind: "list";
      /** One wait for each further attempt; an empty list allows a single one. */
      readonly waitsMs: readonly number[];
      readonly jitter: number;
    };

/** 1 s, 4 s, 16 s … at most 10 hours apart: 15 attempts in 2.75 days. */
export const DEFAULT_RETRY: RetryPolicy = Object.freeze({
  kind: "exponential",
  firstMs: 1000,
  factor: 4,
  capMs: 36_000_000,
  maxAttempts: 15,
  jitter: 0.2,
});

const MAX_ATTEMPTS = 100;
const MAX_WAIT_MS = 30 * 24 * 3600 * 1000;

/** How long to wait after so many failures, the last one included; undefined when the policy allows no further attempt. `chance` is from 0 up to 1. */
export function retryWaitMs(policy: RetryPolicy, failures: number, chance: number): number | undefined {
  const baseMs = plainWaitMs(policy, failures);
  return baseMs === undefined ? undefined : Math.round(baseMs * (1 + policy.jitter * (2 * chance - 1)));
}

function plainWaitMs(policy: RetryPolicy, failures: number): number | undefined {
  if (policy.kind === "list") return policy.waitsMs[failures - 1];
  if (failures >= policy.maxAttempts) return undefined;
  return Math.min(policy.capMs, policy.firstMs * policy.factor ** (failures - 1));
}

/** A policy as it is handed in: every part has a default. */
export type RetryOptions =
  | Partial<Omit<Extract<RetryPolicy, { kind: "exponential" }>, "kind">>
  | { readonly waitsMs: readonly number[]; readonly jitter?: number };

// The kind as well: a policy that was checked can be handed in again.
const OPTIONS: OptionNames<Extract<RetryPolicy, { kind: "exponential" }>> & { readonly waitsMs: true } = {
  kind: true,
  firstMs: true,
  factor: true,
  capMs: true,
  maxAttempts: true,
  jitter: true,
  waitsMs: true,
};
const LIST_OPTIONS = { kind: true, waitsMs: true, jitter: true };

/** Checks a policy once, where it is handed in: a NaN that is found at the first retry would lose the event. */
export function checkRetry(options: RetryOptions = {}): RetryPolicy {
  // A number in its place would be taken for a policy of defaults.
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalid(
      `it is of type ${typeof options}; expected { firstMs, factor, capMs, maxAttempts } or { waitsMs: [1000, 5000] }`,
    );
  const unknown =
    unknownOption("a retry policy", options, OPTIONS) ??
    ("waitsMs" in options ? unknownOption("a retry policy with waitsMs", options, LIST_OPTIONS) : undefined);
  if (unknown !== undefined) throw new PosthornError<WorkErrorCode>("retry_policy_invalid", unknown);
  const jitter = within("jitter", options.jitter ?? DEFAULT_RETRY.jitter, 0, 1);
  if ("waitsMs" in options) {
    const { waitsMs } = options;
    if (!Array.isArray(waitsMs) || waitsMs.length >= MAX_ATTEMPTS) {
      throw invalid(`waitsMs must be a list of at most ${MAX_ATTEMPTS - 1} waits`);
    }
    return Object.freeze({
      kind: "list",
      waitsMs: Object.freeze(waitsMs.map((ms: number, n) => within(`waitsMs[${n}]`, ms, 0, MAX_WAIT_MS))),
      jitter,
    });
  }
  const given = { ...DEFAULT_RETRY, ...options } as Extract<RetryPolicy, { kind: "exponential" }>;
  return Object.freeze({
    kind: "exponential",
    firstMs: within("firstMs", given.firstMs, 0, MAX_WAIT_MS),
    factor: within("factor", given.factor, 1, 100),
    capMs: within("capMs", given.capMs, 0, MAX_WAIT_MS),
    maxAttempts: whole("maxAttempts", given.maxAttempts, 1, MAX_ATTEMPTS),
    jitter,
  });
}

function whole(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value)) throw invalid(`${name} is ${String(value)}; expected a whole number`);
  return within(name, value, least, most);
}

function within(name: string, value: number, least: number, most: number): number {
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw invalid(`${name} is ${String(value)}; expected a number from ${least} to ${most}`);
}

function invalid(found: string): PosthornError<WorkErrorCode> {
  return new PosthornError("retry_policy_invalid", `The retry policy cannot be used: ${found}.`);
}
