import type { HeaderBag } from "../signature/headers/headers.js";

// These hold credentials; an inbox that keeps them would hand them to everybody who can read it.
const REDACTED = new Set(["authorization", "proxy-authorization", "cookie", "x-gitlab-token", "x-api-key"]);
const MAX_LENGTH = 32_768;
const BEYOND_ASCII = /[\u007f-\uffff]/;

/** The headers as JSON text of ASCII characters, without credentials; cut at whole headers where they are too long. */
export function keptHeaders(headers: HeaderBag): string {
  const kept: Record<string, string | readonly string[]> = Object.create(null) as Record<string, string>;
  let length = 0;
  for (const [given, value] of entriesOf(headers)) {
    if (value === undefined) continue;
    const name = given.toLowerCase();
    length += name.length + String(value).length;
    if (length > MAX_LENGTH) break;
    kept[name] = REDACTED.has(name) ? "(redacted)" : value;
  }
  const text = JSON.stringify(kept);
  return BEYOND_ASCII.test(text) ? text.replaceAll(new RegExp(BEYOND_ASCII, "g"), escape) : text;
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function entriesOf(headers: HeaderBag): Iterable<[string, string | readonly string[] | undefined]> {
  const listed = (headers as { entries?: unknown }).entries;
  return typeof listed === "function"
    ? (headers as unknown as Headers).entries()
    : Object.entries(headers as Record<string, string | readonly string[] | undefined>);
}
