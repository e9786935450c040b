import { headerBytes, headerFault, MAX_EVENT_HEADER_BYTES, MAX_EVENT_HEADERS } from "../event-headers.js";
import type { EventHeaders } from "../event-headers.js";
import { matcherOf } from "../pattern.js";
import type { Matcher } from "../pattern.js";

// Credentials of the connection to us, and what is true of that connection alone.
const NEVER: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "set-cookie",
  "proxy-authorization",
  "content-encoding",
  "accept-encoding",
]);
// Signatures are worth nothing under another id and body, tokens are credentials, and a receiver may believe what a
// proxy writes of addresses. Wildcards never match these headers; list them by name.
const BY_NAME_ALONE =
  /signature|hmac|(?:^|-)sig(?:$|-)|token|secret|password|api-?key|^x-forwarded-|^forwarded$|^x-real-ip$|^via$/;
// Senders choose the names of their headers; what is remembered of them must not grow with that.
const MAX_KNOWN = 512;

/** Why a header can never be sent on under this exact name, in lower case; undefined when it can. */
export function forwardFault(name: string): string | undefined {
  if (NEVER.has(name))
    return "is never sent on: it belongs to the connection between the provider and Posthorn";
  return headerFault(name, "");
}

/** Which headers of a source's requests are sent on with its events. Names and patterns are in lower case. */
export class ForwardedHeaders {
  readonly #exact: ReadonlySet<string>;
  readonly #matches: Matcher | undefined;
  readonly #known = new Map<string, boolean>();

  constructor(patterns: readonly string[]) {
    const globs = patterns.filter((pattern) => pattern.includes("*"));
    this.#exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
    this.#matches = globs.length === 0 ? undefined : matcherOf(globs);
  }

  /** Those of a request, as an event may bring them; undefined where there are none. */
  of(headers: Readonly<Record<string, unknown>>): EventHeaders | undefined {
    if (this.#exact.size === 0 && this.#matches === undefined) return undefined;
    const chosen: [string, string][] = [];
    let bytes = 0;
    for (const [name, value] of Object.entries(headers)) {
      // A value that is no text, or cannot be sent as it is, is not sent at all.
      if (typeof value !== "string" || !this.#wants(name) || headerFault(name, value) !== undefined) continue;
      const size = headerBytes(name, value);
      if (chosen.length === MAX_EVENT_HEADERS || bytes + size > MAX_EVENT_HEADER_BYTES) continue;
      bytes += size;
      chosen.push([name, value]);
    }
    return chosen.length === 0 ? undefined : Object.fromEntries(chosen);
  }

  #wants(name: string): boolean {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const wanted = this.#judge(name);
    if (this.#known.size < MAX_KNOWN) this.#known.set(name, wanted);
    return wanted;
  }

  #judge(name: string): boolean {
    if (forwardFault(name) !== undefined) return false;
    if (this.#exact.has(name)) return true;
    return !BY_NAME_ALONE.test(name) && this.#matches?.(name) === true;
  }
}
