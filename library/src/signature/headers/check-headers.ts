import { PosthornError } from "../../posthorn-error.js";
import type { Scheme, SignedRequest } from "../scheme.js";
import type { SignatureErrorCode } from "../signature-errors.js";
import { findHeader, isHeaders, repeatedHeader } from "./headers.js";

// Providers send about 20, and proxies add some. Node keeps the first 1,000 and drops the others without a word: one of
// those could be the twin of a header that must not stand twice.
const MAX_HEADERS = 200;

/**
 * Refuses a request with too many headers, or in which a header of the scheme stands twice: two readers could take two
 * different values. Raw headers show both; without them, the platform has joined the values by a comma and a space.
 */
export function checkHeaders(
  { headers: own, listHeaders }: Pick<Scheme, "headers" | "listHeaders">,
  request: Pick<SignedRequest, "headers" | "rawHeaders">,
): void {
  const names = sentNames(request) ?? own;
  if (names.length > MAX_HEADERS) {
    const message = `The request has ${names.length} headers; at most ${MAX_HEADERS} are read.`;
    throw new PosthornError<SignatureErrorCode>("headers_too_many", message, {
      detail: { found: names.length },
    });
  }
  for (const name of own) {
    const times = timesIn(names, name);
    if (times > 1) throw repeatedHeader(name);
    if (times === 0 || listHeaders?.includes(name)) continue;
    if (findHeader(request.headers, name)?.includes(", ")) throw repeatedHeader(name);
  }
}

/** How often a header was sent, in whatever letters. */
function timesIn(names: readonly string[], name: string): number {
  let times = 0;
  for (const sent of names) {
    // Most names differ by their length: only those that do not are worth lower-casing.
    if (sent.length === name.length && sent.toLowerCase() === name) times += 1;
  }
  return times;
}

function sentNames({
  headers,
  rawHeaders = [],
}: Pick<SignedRequest, "headers" | "rawHeaders">): readonly string[] | undefined {
  // Test kits and serverless adapters make requests whose raw headers are empty.
  if (rawHeaders.length > 0) return rawHeaders.filter((_, index) => index % 2 === 0);
  return isHeaders(headers) ? headers.keys && [...headers.keys()] : Object.keys(headers);
}
