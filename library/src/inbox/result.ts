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
  if (!isPlain(result, 0)) {
    logger.info("The handler's result is not kept: it is not plain JSON.");
    return undefined;
  }
  const text = JSON.stringify(result);
  if (text.length <= MAX_RESULT_LENGTH) return text;
  logger.warn(
    `The handler's result is not kept: ${text.length} characters of JSON, at most ${MAX_RESULT_LENGTH} fit.`,
  );
  return undefined;
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
