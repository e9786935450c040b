import { asObject } from "../json.js";
import { isPosthornError, PosthornError } from "../posthorn-error.js";
import type { ErrorDetail } from "../posthorn-error.js";
import type { ClientErrorCode } from "./client-errors.js";
import type { Problem } from "./resources.js";

/** The problem that the server told, of an error that a client threw; undefined where there is none. */
export function problemOf(error: unknown): Problem | undefined {
  if (!isPosthornError(error) || !error.code.startsWith("api_")) return undefined;
  return readProblem(error.detail);
}

/** Undefined where the value is no problem of RFC 9457 with a code. */
export function readProblem(value: unknown): Problem | undefined {
  const { type, title, status, detail, code, requestId, field, ids, head } = asObject(value) ?? {};
  if (typeof status !== "number" || typeof code !== "string" || typeof detail !== "string") return undefined;
  return {
    type: typeof type === "string" ? type : "about:blank",
    title: typeof title === "string" ? title : code,
    status,
    detail,
    code,
    ...(typeof requestId === "string" && { requestId }),
    ...(typeof field === "string" && { field }),
    ...(Array.isArray(ids) && { ids: ids.filter((id) => typeof id === "string") }),
    ...(typeof head === "string" && { head }),
  };
}

/** The error of an answer that was not what was asked for. */
export function answeredError(status: number, body: unknown): PosthornError<ClientErrorCode> {
  const problem = readProblem(body);
  if (problem === undefined) return foreign(status);
  return new PosthornError(codeOf(status), problem.detail, { detail: { ...problem } satisfies ErrorDetail });
}

function codeOf(status: number): ClientErrorCode {
  if (status === 401 || status === 403) return "api_unauthorised";
  if (status === 404) return "api_not_found";
  if (status === 409) return "api_conflict";
  if (status === 429 || status === 503) return "api_unavailable";
  return status >= 500 ? "api_failed" : "api_refused";
}

function foreign(status: number): PosthornError<ClientErrorCode> {
  const redirect = status >= 300 && status < 400;
  // Of a proxy, these say that the server behind it is away for the moment.
  const away = status === 502 || status === 503 || status === 504;
  return new PosthornError(
    away ? "api_unavailable" : "api_answer_invalid",
    `The address answered ${status} without a problem that Posthorn would tell. ` +
      (redirect
        ? "It is a redirect: give the client the address to which it leads."
        : "Something else listens there, or a proxy before it answered; check the client's `url`."),
    { detail: { status } },
  );
}
