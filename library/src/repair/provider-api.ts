import type { ReadingEgress } from "../delivery/egress/egress.js";
import { PosthornError } from "../posthorn-error.js";
import type { StopSignal } from "../stop-signal.js";
import type { RepairErrorCode } from "./repair-errors.js";

/** A token, or a function that brings one: those of GitHub Apps live for ten minutes. */
export type ApiToken = string | (() => string | Promise<string>);

/** How a provider's API is reached. */
export interface ApiOptions {
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
    throw unreadable(title, detail === undefined ? found : `${found}: ${detail}`);
  }
  if (answer.cut) throw unreadable(title, `sent more than ${maxAnswerBytes} bytes, or broke off`);
  return { body: answer.answer ?? new Uint8Array(), headers: answer.headers };
}

/** The error for an API that says something else than it documents. Its text never has the token or the payload. */
export function unreadable(title: string, found: string): PosthornError<RepairErrorCode> {
  return new PosthornError(
    "repair_log_unreadable",
    `The log of ${title} could not be read: its API ${found}.`,
  );
}

/** The error for an option that cannot work. */
export function invalidOption(message: string): PosthornError<RepairErrorCode> {
  return new PosthornError("repair_option_invalid", message);
}
