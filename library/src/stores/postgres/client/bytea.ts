import { decodeHex } from "../../../bytes.js";

/** The type of columns that hold bytes, by its number in every Postgres. */
export const BYTEA = 17;

// Node decodes in native code: a loop over the digits was a tenth of what a delivery costs its process.
const native = typeof Buffer === "function" ? Buffer : undefined;

/** The bytes of a bytea column, as the server writes it as text: in hex, or as `escape` where `bytea_output` says so. */
export function bytesOfText(text: string): Uint8Array {
  if (!text.startsWith(String.raw`\x`)) return unescaped(text);
  const hex = text.slice(2);
  return native?.from(hex, "hex") ?? decodeHex(hex) ?? new Uint8Array();
}

/** Printable characters stand for themselves, a backslash is doubled, any other byte is three octal digits. */
function unescaped(text: string): Uint8Array {
  const characters = text.replaceAll(/\\(\\|[0-7]{3})/g, (_, escaped: string) =>
    escaped === "\\" ? escaped : String.fromCodePoint(Number.parseInt(escaped, 8)),
  );
  return Uint8Array.from(characters, (character) => character.codePointAt(0) ?? 0);
}
