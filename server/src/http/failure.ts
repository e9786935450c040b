import type { FastifyError } from "fastify";
import { isPosthornError } from "posthorn";
import type { PosthornError } from "posthorn";
import type { Problem } from "posthorn/client";
import { PROBLEMS } from "./problem.js";
import type { ProblemCode, ProblemDetail } from "./problem.js";
import { validationFault } from "./validation.js";
import { saysDiskFull } from "../observe/readiness.js";

/** A problem with its headers, and whether it is logged as an error. */
export interface Failure {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
  /** True for a fault of the server, not of the caller. */
  readonly ours: boolean;
}

/** The problems of the library's errors whose messages are about what the caller sent. */
const LIBRARY_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  publication_invalid: "request_invalid",
  id_conflict: "conflict",
  endpoint_invalid: "request_invalid",
  endpoint_unknown: "not_found",
  endpoint_busy: "conflict",
  consumer_in_use: "conflict",
  consumer_not_empty: "conflict",
  cursor_invalid: "request_invalid",
  retry_policy_invalid: "request_invalid",
  address_forbidden: "request_invalid",
  secret_missing: "request_invalid",
  secret_malformed: "request_invalid",
  option_invalid: "request_invalid",
  window_too_short: "request_invalid",
  source_invalid: "request_invalid",
  source_unknown: "not_found",
};

/** The problems of Fastify's own errors. */
const FRAMEWORK_PROBLEMS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["body_too_large", "The body is larger than what is taken."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["media_type_unsupported", "Send the body as application/json."],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["json_malformed", "The body is empty; JSON is expected."],
  FST_ERR_CTP_INVALID_JSON_BODY: ["json_malformed", "The body is not JSON."],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    "request_malformed",
    "The body is not as long as content-length says.",
  ],
  FST_ERR_BAD_URL: ["request_malformed", "The path is not a valid one; a `%` in a name is written as `%25`."],
  FST_ERR_MAX_PARAM_LENGTH: ["uri_too_long", "A name in the path is longer than any that exists."],
  FST_ERR_ASYNC_CONSTRAINT: ["request_malformed", "The request cannot be routed."],
};

// A guess: nobody knows when a database comes back.
const STORE_RETRY_S = 2;

/** Turns an error into a problem. Of an unexpected error, the caller gets nothing but the request's id. */
export function failureOf(error: unknown, requestId: string): Failure {
  if (isPosthornError(error)) return ofPosthorn(error, requestId);
  const { validation, code = "", validationContext } = error as Partial<FastifyError>;
  if (validation !== undefined) {
    const { field, message } = validationFault(validation, validationContext);
    return failure("request_invalid", message, { detail: { field }, requestId });
  }
  const [framework, message] = FRAMEWORK_PROBLEMS[code] ?? [];
  if (framework !== undefined && message !== undefined) return failure(framework, message, { requestId });
  if (error instanceof SyntaxError && "statusCode" in error) {
    return failure("json_malformed", `The body is not JSON: ${error.message.slice(0, 200)}.`, { requestId });
  }
  if (isStoreFailure(error)) return unavailable(error, requestId);
  return failure("internal", "Something failed that should not.", { requestId, ours: true });
}

function ofPosthorn(error: PosthornError, requestId: string): Failure {
  const detail = error.detail as ProblemDetail;
  if (Object.hasOwn(PROBLEMS, error.code)) {
    // The store's messages name hosts and files.
    if (error.code === "store_unavailable") return unavailable(error, requestId);
    return failure(error.code as ProblemCode, error.message, { detail, requestId });
  }
  const known = LIBRARY_PROBLEMS[error.code];
  if (known === "request_invalid") {
    return failure(known, error.message, { detail: { ...detail, ...fieldOf(error) }, requestId });
  }
  if (known !== undefined) return failure(known, error.message, { detail, requestId });
  if (STORE_CODES.has(error.code)) return unavailable(error, requestId);
  return failure("internal", "Something failed that should not.", { requestId, ours: true });
}

/** Finds the field that an error of the library is about: its messages put names of options in backticks. */
function fieldOf({ code, message, detail }: PosthornError): { readonly field?: string } {
  if (typeof detail["field"] === "string") return { field: detail["field"] };
  if (code === "retry_policy_invalid") return { field: "retry" };
  if (code.startsWith("secret_")) return { field: "secrets" };
  if (/: (?:the header |it has \d+ headers|its headers )/.test(message)) return { field: "headers" };
  const [, field] = /`([A-Za-z]+)(?:\[\d+\])?`/.exec(message) ?? [];
  return field === undefined ? {} : { field };
}

/** Of what the store says, only a full disk is told: its messages name hosts and files. */
function unavailable(error: unknown, requestId: string): Failure {
  return failure(
    "store_unavailable",
    saysDiskFull(error)
      ? "The disk of the database is full; nothing was done. Make room, and try again."
      : "The database does not answer; nothing is known to be done. Try again.",
    {
      detail: { retryAfterS: STORE_RETRY_S },
      requestId,
      ours: true,
    },
  );
}

const STORE_CODES: ReadonlySet<string> = new Set([
  "store_not_migrated",
  "store_commit_unknown",
  "dedup_busy",
]);
// Connections (08), resources (53), intervention (57), system errors (58); read-only (25006); lock and statement timeouts.
const PG_STATES = /^(08|53|57|58)...$|^(25006|55P03|40001|40P01)$/;
const NETWORK_CODES =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const SQLITE_CODES = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL)/;

/** Whether a driver's error means that the database is down, not that a statement was wrong. */
function isStoreFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (PG_STATES.test(code) || NETWORK_CODES.test(code) || SQLITE_CODES.test(code)) return true;
  // Errors of `pg` that have no code.
  return /Connection terminated|timeout exceeded when trying to connect|database connection is not open/i.test(
    error.message,
  );
}

interface FailureParts {
  readonly detail?: ProblemDetail;
  readonly requestId: string;
  readonly ours?: boolean;
}

function failure(
  code: ProblemCode,
  message: string,
  { detail = {}, requestId, ours = false }: FailureParts,
): Failure {
  const { status, title } = PROBLEMS[code];
  const { field, ids, head, retryAfterS, allow } = detail;
  return {
    problem: {
      type: `urn:posthorn:problem:${code}`,
      title,
      status,
      detail: message,
      code,
      requestId,
      ...(field !== undefined && { field }),
      ...(ids !== undefined && { ids }),
      ...(head !== undefined && { head }),
    },
    headers: {
      ...(retryAfterS !== undefined && { "retry-after": String(retryAfterS) }),
      ...(allow !== undefined && { allow }),
      ...(status === 401 && { "www-authenticate": "Bearer" }),
    },
    ours,
  };
}
