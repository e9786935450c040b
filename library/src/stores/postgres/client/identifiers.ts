import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";

export const DEFAULT_SCHEMA = "posthorn";
export const DEFAULT_DEDUP_TABLE = "dedup";

// Postgres truncates longer names silently; 52 leaves room for the endings of keys and indexes.
const NAME = /^[A-Za-z_][A-Za-z0-9_$-]{0,51}$/;

/** A name in quotes, as it stands in SQL. Only names pass that need no escaping, neither there nor in a literal. */
export function quotedName(option: string, name: string): string {
  if (typeof name === "string" && NAME.test(name)) return `"${name}"`;
  throw optionInvalid(
    `${option} is ${JSON.stringify(name)}; expected a letter or _, then up to 51 of letters, digits, _, $ and -.`,
  );
}

/** Throws unless it is a number of milliseconds that a timer can wait. */
export function checkedMs(option: string, ms: number): number {
  if (Number.isFinite(ms) && ms >= 0 && ms <= 3_600_000) return ms;
  throw optionInvalid(`${option} is ${String(ms)}; expected milliseconds, 0 to 3,600,000.`);
}

export function optionInvalid(message: string): PosthornError<StoreErrorCode> {
  return new PosthornError("store_option_invalid", message);
}

/** A text as a literal of SQL, whatever the server's setting of standard_conforming_strings. */
export function literal(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** A text that Postgres accepts: it cannot store NUL. */
export function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", String.raw`\u0000`) : text;
}
