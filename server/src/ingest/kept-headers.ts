import type { RequestHeaders } from "./received-request.js";

// These hold credentials; what keeps them would hand them to everybody who can read it.
const CREDENTIAL = /^(?:proxy-)?authorization$|^cookie$|token|secret|password|api-?key/;
const MAX_CHARACTERS = 16_384;

/** The headers of a request for people to look at, without credentials; cut at whole headers where they are too long. */
export function keptHeaders(headers: RequestHeaders): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  let length = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : value.join(", ");
    length += name.length + text.length;
    if (length > MAX_CHARACTERS) break;
    kept.push([name, CREDENTIAL.test(name) ? "(redacted)" : text]);
  }
  return Object.fromEntries(kept);
}
