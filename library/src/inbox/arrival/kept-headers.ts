import type { HeaderBag, HeaderRecord } from "../../signature/headers/headers.js";

// These hold credentials; what keeps them would hand them to everybody who can read it. Signatures stay: each is worth
// nothing with another body, and whoever asks why a request was refused has to see it.
const CREDENTIAL = /^(?:proxy-)?authorization$|^(?:set-)?cookie$|token|secret|password|api-?key/;
const REDACTED = "[redacted]";
const MAX_CHARACTERS = 16_384;

/** The headers of a request for people to look at, without credentials; cut at whole headers where they are too long. */
export function keptHeaders(headers: HeaderBag): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  let length = 0;
  for (const [given, value] of entriesOf(headers)) {
    if (value === undefined) continue;
    const name = given.toLowerCase();
    const text = typeof value === "string" ? value : value.join(", ");
    length += name.length + text.length;
    if (length > MAX_CHARACTERS) break;
    kept.push([name, CREDENTIAL.test(name) ? REDACTED : text]);
  }
  return Object.fromEntries(kept);
}

const BEYOND_ASCII = /[\u007f-\uffff]/g;

/** The same as JSON text of ASCII characters, which every database takes. */
export function keptHeadersText(headers: HeaderBag): string {
  return headersText(keptHeaders(headers));
}

/** Headers that were kept, in the same form. */
export function headersText(kept: Readonly<Record<string, string>>): string {
  return keptText(JSON.stringify(kept));
}

/** The headers of a stored event, whose text may have other characters, in the same form. */
export function keptText(stored: string): string {
  return stored.replaceAll(BEYOND_ASCII, escape);
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function entriesOf(headers: HeaderBag): Iterable<[string, HeaderRecord[string]]> {
  const listed = (headers as { entries?: unknown }).entries;
  return typeof listed === "function"
    ? (headers as unknown as Headers).entries()
    : Object.entries(headers as HeaderRecord);
}
