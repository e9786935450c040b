import type { ReadingEgress } from "../delivery/egress/egress.js";
import { unknownOption } from "../known-options.js";
import type { OptionNames } from "../known-options.js";
import { isPosthornError, PosthornError } from "../posthorn-error.js";
import type { StopSignal } from "../stop-signal.js";
import type { RepairErrorCode } from "./repair-errors.js";

/** A token, or a function that brings one: those of GitHub Apps live for ten minutes. */
export type ApiToken = string | (() => string | Promise<string>);

/** How a provider's API is reached. */
export interface ApiOptions {
  /**
   * The log's own name, under which a repair remembers how far it has read it. Logs of one source need different ones, where
   * their hooks or accounts do not tell them apart: two apps, or two keys of two accounts.
   */
  readonly name?: string;
  /** The guarded way out, of `createEgress` (`posthorn/dispatch`). */
  readonly egress: Pick<ReadingEgress, "get">;
  /** For each request: name, connection, request and answer. @default 15,000 */
  readonly deadlineMs?: number;
}

export interface ApiRequest {
  readonly url: string;
  readonly token: ApiToken;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAnswerBytes: number;
  readonly signal: StopSignal | undefined;
}

export interface ApiAnswer {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

const DEADLINE_MS = 15_000;

/** Reads from a provider's API, and throws `repair_log_unreadable` for everything but a whole answer of 200. */
export async function readApi(
  title: string,
  { egress, deadlineMs = DEADLINE_MS }: ApiOptions,
  { url, token, headers, maxAnswerBytes, signal }: ApiRequest,
): Promise<ApiAnswer> {
  const bearer = typeof token === "string" ? token : await token();
  const answer = await egress.get({
    url,
    headers: { ...headers, authorization: `Bearer ${bearer}`, "user-agent": "posthorn" },
    deadlineMs,
    maxAnswerBytes,
    signal,
  });
  const { outcome, detail } = answer;
  if (outcome.kind !== "acknowledged") {
    const found =
      "status" in outcome ? `answered ${outcome.status}` : `is ${outcome.kind} (${outcome.reason})`;
    throw unreadable(title, detail === undefined ? found : `${found}: ${detail}`, reachedBy(outcome));
  }
  if (answer.cut) throw unreadable(title, `sent more than ${maxAnswerBytes} bytes, or broke off`);
  return { body: answer.answer ?? new Uint8Array(), headers: answer.headers };
}

/** What a failure hits: this entry alone, our access to the API, or the API as a whole. */
export type Reach = "entry" | "access" | "api";

interface Hit {
  readonly reach: Reach;
  readonly status?: number;
  /** As the provider asks. */
  readonly retryAfterMs?: number | undefined;
}

const NO_ACCESS: ReadonlySet<number> = new Set([401, 403, 429]);

function reachedBy(outcome: ReadingOutcome): Hit {
  if (outcome.kind !== "refused") return { reach: "api" };
  const { status, retryAfterMs } = outcome;
  if (NO_ACCESS.has(status)) return { reach: "access", status, retryAfterMs };
  return { reach: status < 500 ? "entry" : "api", status, retryAfterMs };
}

type ReadingOutcome = Awaited<ReturnType<ReadingEgress["get"]>>["outcome"];

/**
 * The error for an API that says something else than it documents: of one entry, unless more is known. Its text never has the
 * token or the payload.
 */
export function unreadable(
  title: string,
  found: string,
  hit: Hit = { reach: "entry" },
): PosthornError<RepairErrorCode> {
  return new PosthornError(
    "repair_log_unreadable",
    `The log of ${title} could not be read: its API ${found}.`,
    { detail: { ...hit } },
  );
}

/** What a failure of a log hits; of an error that is not ours, the worse is assumed. */
export function reachOf(error: unknown): Reach {
  const reach = isPosthornError(error) ? error.detail["reach"] : undefined;
  return reach === "entry" || reach === "access" ? reach : "api";
}

// No answer of an API may silence a repair for longer.
const LONGEST_REST_MS = 24 * 3_600_000;

/** How long the provider asks us to wait; 0 where it does not. */
export function restOf(error: unknown): number {
  const ms = isPosthornError(error) ? error.detail["retryAfterMs"] : undefined;
  return typeof ms === "number" && ms > 0 ? Math.min(ms, LONGEST_REST_MS) : 0;
}

/** The names of what every log can be told. */
export const API_OPTIONS: OptionNames<ApiOptions> = { name: true, egress: true, deadlineMs: true };

/** Refuses what is no options, and a misspelt name: a log would be read from elsewhere, or not as far as it should. */
export function checkOptionNames(of: string, given: unknown, known: Readonly<object>): void {
  if (typeof given !== "object" || given === null)
    throw invalidOption(
      `The options of ${of} are ${given === undefined ? "missing" : `of type ${typeof given}`}; expected an object of ${Object.keys(known).join(", ")}.`,
    );
  const unknown = unknownOption(of, given, known);
  if (unknown !== undefined) throw invalidOption(unknown);
}

/** The error for an option that cannot work. */
export function invalidOption(message: string): PosthornError<RepairErrorCode> {
  return new PosthornError("repair_option_invalid", message);
}
