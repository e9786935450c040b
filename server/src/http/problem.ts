import { PosthornError } from "posthorn";
import type { ErrorDetail } from "posthorn";
import type { Problem } from "posthorn/client";
import { BIG } from "./resources/text.js";
import type { FieldsOf } from "./resources/text.js";

/** Every problem that the API answers. Printed into docs/api.md. */
export const PROBLEMS = {
  request_invalid: { status: 400, title: "A part of the request is wrong; `field` names it." },
  json_malformed: { status: 400, title: "The body is not JSON." },
  request_malformed: { status: 400, title: "The request is not HTTP as it should be." },
  unauthorised: { status: 401, title: "A token is wanted, and none that is valid was sent." },
  forbidden: { status: 403, title: "The token may only read." },
  session_refused: {
    status: 403,
    title: "A session cannot be had in this way, or a write by session came from another page.",
  },
  not_found: { status: 404, title: "There is nothing of this name." },
  method_not_allowed: { status: 405, title: "The path has other methods; `allow` lists them." },
  request_timeout: { status: 408, title: "The request did not arrive in time." },
  conflict: { status: 409, title: "It contradicts what is there; nothing was changed." },
  lane_moved: {
    status: 409,
    title: "The lane has another head by now, which `head` names; nothing was skipped.",
  },
  plan_changed: {
    status: 409,
    title: "What was planned is not what would be done now; nothing was done.",
  },
  body_too_large: { status: 413, title: "The body is larger than what is taken." },
  uri_too_long: { status: 414, title: "The path is longer than what is taken." },
  media_type_unsupported: { status: 415, title: "The body is of a type that is not read; send JSON." },
  misdirected: { status: 421, title: "The server does not go by the name in the `host` header." },
  too_many_failures: { status: 429, title: "Too many requests with wrong tokens came from this address." },
  headers_too_large: { status: 431, title: "The headers are larger than what is taken." },
  internal: { status: 500, title: "The server failed; its log has more under the request id." },
  store_unavailable: { status: 503, title: "The database cannot be reached, or refuses to work." },
  not_ready: { status: 503, title: "This node cannot take work at the moment." },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly title: string }>>;

export type ProblemCode = keyof typeof PROBLEMS;

/** A problem as it is sent, by RFC 9457. */
export const PROBLEM: object = {
  $id: "Problem",
  type: "object",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What was found, and how to mend it." },
    code: { type: "string", description: "Lower snake case, for programs." },
    requestId: { type: "string", description: "What the server's log calls this request." },
    field: { type: "string", description: "Which part of the request is wrong." },
    ids: { type: "array", items: { type: "string" }, description: "Of the events that are in conflict." },
    head: { ...BIG, description: "The sequence that is at the head of the lane now." },
  } satisfies FieldsOf<Problem>,
};

/** The further fields and headers of a problem. */
export interface ProblemDetail extends ErrorDetail {
  readonly field?: string;
  readonly ids?: readonly string[];
  readonly head?: string;
  /** Sent as `retry-after`. */
  readonly retryAfterS?: number;
  /** Sent as `allow`. */
  readonly allow?: string;
}

/** The error to throw for a problem. `message` is sent to the caller: it must not hold anything of others. */
export function problem(
  code: ProblemCode,
  message: string,
  detail: ProblemDetail = {},
): PosthornError<ProblemCode> {
  return new PosthornError(code, message, { detail });
}

/** For a name that does not exist. */
export function notFound(what: string, name: string): PosthornError<ProblemCode> {
  return problem("not_found", `There is no ${what} ${shown(name)}.`);
}

/** Quotes a text of the caller: short, and without control characters. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text).replaceAll(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
