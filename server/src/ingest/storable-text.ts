import { Buffer } from "node:buffer";

const MAX_BYTES = 255;
const PLAIN = /^[\x20-\x7e]{1,255}$/;

/** Whether every store and header can carry a text as a name. */
export function isStorable(text: string): boolean {
  if (PLAIN.test(text)) return true;
  if (text === "" || text.length > MAX_BYTES || /\p{Cc}/u.test(text)) return false;
  return text.isWellFormed() && Buffer.byteLength(text) <= MAX_BYTES;
}

/** A text as a name that can be stored: cut, and without what no store takes. A sender must not be able to stop its own events. */
export function storableText(text: string, fallback: string): string {
  if (isStorable(text)) return text;
  const cleaned = text
    .slice(0, MAX_BYTES)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "\ufffd");
  let cut = "";
  let bytes = 0;
  for (const character of cleaned) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_BYTES) break;
    cut += character;
  }
  return cut === "" ? fallback : cut;
}
