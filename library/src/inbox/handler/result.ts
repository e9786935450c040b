import type { HandlerLogger } from "./handlers.js";

// A note for people and for later code, not a copy of what was read.
const MAX_RESULT_LENGTH = 8192;
const MAX_DEPTH = 32;

/**
 * A handler's result as JSON text, if it is small plain JSON. Any other result is left out and told: the work is done, and
 * undoing it for the sake of a note would turn success into failure. An arrow that ends with a query returns the
 * driver's whole answer, which is an object of a class and no result of the host's.
 */
export function encodeResult(result: unknown, logger: HandlerLogger): string | undefined {
  if (result === undefined) return undefined;
  const encoding = plainJson(result);
  if ("text" in encoding) return encoding.text;
  logger[encoding.isPlain ? "warn" : "info"](`The handler's result is not kept: ${encoding.why}.`);
  return undefined;
}

/** A value as JSON text, if it is small plain JSON; else why not. */
export function plainJson(
  value: unknown,
): { readonly text: string } | { readonly why: string; readonly isPlain: boolean } {
  if (!isPlain(value, 0)) return { why: "it is not plain JSON", isPlain: false };
  const text = JSON.stringify(value);
  if (text.length <= MAX_RESULT_LENGTH) return { text };
  const why = `${text.length} characters of JSON, at most ${MAX_RESULT_LENGTH} fit`;
  return { why, isPlain: true };
}

/** Whether a value is what JSON.parse could give, or a date, or undefined in the place of a field. */
function isPlain(value: unknown, depth: number): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > MAX_DEPTH) return false;
  if (value instanceof Date) return Number.isFinite(value.getTime());
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) return (value as unknown[]).every((item) => isPlain(item, depth + 1));
  if (prototype !== null && prototype !== Object.prototype) return false;
  return Object.values(value).every((field) => field === undefined || isPlain(field, depth + 1));
}
