import type { EventHeaders } from "posthorn";
import { headerFault } from "posthorn";
import { glob } from "./glob.js";
import type { Glob } from "./glob.js";
import type { RequestHeaders } from "./received-request.js";

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
// proxy writes of addresses: a pattern does not mean these, only their exact name does.
const BY_NAME_ALONE =
  /signature|hmac|(?:^|-)sig(?:$|-)|token|secret|password|api-?key|^x-forwarded-|^forwarded$|^x-real-ip$|^via$/;

const MAX_HEADERS = 64;
const MAX_BYTES = 8192;
// A colon, a space and the end of the line.
const BYTES_AROUND = 4;
// Senders choose the names of their headers; what is remembered of them must not grow with that.
const MAX_KNOWN = 512;

/** Why a header can never be sent on under this exact name; undefined when it can. */
export function forwardFault(name: string): string | undefined {
  if (NEVER.has(name))
    return "is never sent on: it belongs to the connection between the provider and Posthorn";
  return headerFault(name, "");
}

/** Which headers of a source's requests are sent on with its events. */
export class ForwardedHeaders {
  readonly #exact: ReadonlySet<string>;
  readonly #globs: readonly Glob[];
  readonly #known = new Map<string, boolean>();

  constructor(patterns: readonly string[]) {
    this.#exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
    this.#globs = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => glob(pattern));
  }

  /** Those of a request, as an event may bring them; undefined where there are none. */
  of(headers: RequestHeaders): EventHeaders | undefined {
    if (this.#exact.size === 0 && this.#globs.length === 0) return undefined;
    const chosen: [string, string][] = [];
    let bytes = 0;
    for (const [name, value] of Object.entries(headers)) {
      // Of what is no text, or cannot be sent as it is, nothing is sent.
      if (typeof value !== "string" || !this.#wants(name) || headerFault(name, value) !== undefined) continue;
      const size = name.length + value.length + BYTES_AROUND;
      if (chosen.length === MAX_HEADERS || bytes + size > MAX_BYTES) continue;
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
    return !BY_NAME_ALONE.test(name) && this.#globs.some((matches) => matches(name));
  }
}
