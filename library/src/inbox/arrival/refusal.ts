import { findHeader } from "../../signature/headers/headers.js";
import type { HeaderBag } from "../../signature/headers/headers.js";
import type { Reply } from "../../signature/scheme.js";

/** Why a request is refused before its signature is looked at. */
export interface RequestRefusal {
  readonly status: number;
  /** One of docs/errors.md. */
  readonly code: string;
  readonly why: string;
}

// What is wrong on our side must be retried by the sender; what is wrong with the request must not tell an attacker why.
const OUR_FAULT: ReadonlyMap<string, number> = new Map([
  ["body_not_raw", 500],
  ["url_required", 500],
  ["signature_unverifiable", 503],
  // Whoever added the headers, a proxy perhaps, has to learn that they are the reason.
  ["headers_too_many", 431],
]);

/** The reply to a request that could not prove where it comes from, by the code of the error. */
export function refusalOf(code: string): Reply {
  return { status: OUR_FAULT.get(code) ?? 401 };
}

/** Whether the body is compressed: signatures cover the bytes as they were before, so that it is refused with 415. */
export function isEncoded(headers: HeaderBag): boolean {
  try {
    const encoding = findHeader(headers, "content-encoding");
    return encoding !== undefined && encoding !== "" && encoding.toLowerCase() !== "identity";
  } catch {
    // Sent twice, or longer than any encoding's name: nothing that could be read.
    return true;
  }
}
