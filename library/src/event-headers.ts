/** Headers that an event brings along, by their names in lower case. */
export type EventHeaders = Readonly<Record<string, string>>;

// Those of the connection would cut the request short or promise what is not sent; the rest say who sends, where to,
// and what the body is, which follows from the event itself.
const RESERVED: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "idempotency-key",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);
// A second signature, or a place in a lane, that nobody has signed.
const RESERVED_PREFIX = /^(?:webhook|svix|posthorn)-/;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** How many headers an event brings at most, and how many bytes they may have together. */
export const MAX_EVENT_HEADERS = 64;
export const MAX_EVENT_HEADER_BYTES = 8192;

/** What a header takes on the wire: a colon, a space and the end of the line come with it. */
export function headerBytes(name: string, value: string): number {
  return name.length + value.length + 4;
}

/** Whether HTTP allows a header of this name. */
export function isHeaderName(text: unknown): text is string {
  return typeof text === "string" && TOKEN.test(text.toLowerCase());
}

/** Whether a text can be sent as `content-type`: a line break in it would write another header. */
export function isContentType(text: unknown): text is string {
  return typeof text === "string" && /^[\x20-\x7e]{1,255}$/.test(text);
}

/** Why an event cannot bring a header, whose name is in lower case; undefined when it can. */
export function headerFault(name: string, value: unknown): string | undefined {
  if (!TOKEN.test(name)) return "has a name that HTTP does not allow";
  if (RESERVED.has(name) || RESERVED_PREFIX.test(name)) {
    return "is written by the sender itself; leave it away, or choose another name";
  }
  // A line break in a value would write another header.
  if (typeof value !== "string" || !VALUE.test(value)) {
    return "must have a value of visible ASCII characters, spaces and tabs";
  }
  return undefined;
}
