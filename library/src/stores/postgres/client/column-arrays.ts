import { withoutNul } from "./identifiers.js";

// Rows go to the server as one array for each column: one plan serves every number of rows.

const SPECIAL = /["\\\0]/;

/** Texts as a literal of an array; undefined becomes NULL. */
export function textArray(texts: readonly (string | undefined)[]): string {
  let literal = "{";
  for (const text of texts) literal += (literal === "{" ? "" : ",") + element(text);
  return `${literal}}`;
}

function element(text: string | undefined): string {
  if (text === undefined) return "NULL";
  if (!SPECIAL.test(text)) return `"${text}"`;
  return `"${withoutNul(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Numbers as a literal of an array; undefined becomes NULL. */
export function numberArray(numbers: readonly (number | bigint | undefined)[]): string {
  let literal = "{";
  for (const number of numbers) literal += (literal === "{" ? "" : ",") + (number ?? "NULL").toString();
  return `${literal}}`;
}

/** Booleans as a literal of an array. */
export function booleanArray(truths: readonly boolean[]): string {
  return `{${truths.map((truth) => (truth ? "t" : "f")).join(",")}}`;
}

/** Byte strings joined to one, and where each begins in it, counted from 1 as `substring` does. */
export interface PackedBytes {
  readonly bytes: Uint8Array;
  readonly starts: string;
  readonly lengths: string;
}

/** Joins byte strings: in an array of them each byte would be sent as two characters. */
export function packBytes(parts: readonly (Uint8Array | undefined)[]): PackedBytes {
  const packed = new Uint8Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0));
  const starts: number[] = [];
  let offset = 0;
  for (const part of parts) {
    starts.push(offset + 1);
    if (part === undefined) continue;
    packed.set(part, offset);
    offset += part.length;
  }
  return {
    bytes: packed,
    starts: numberArray(starts),
    lengths: numberArray(parts.map((part) => part?.length)),
  };
}
