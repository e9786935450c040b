import { utf8 } from "./bytes.js";

// Names and times that every database and every header can carry.

const MAX_NAME_BYTES = 255;
const PLAIN_NAME = /^[\x20-\x7e]{1,255}$/;

/** Why a value cannot be a name (a tenant, a source, an event type, a key); undefined when it can. */
export function nameFault(value: unknown): string | undefined {
  // Almost all of them, at a fifth of the cost.
  if (typeof value === "string" && PLAIN_NAME.test(value)) return undefined;
  if (typeof value !== "string" || value === "") return "must be a text that is not empty";
  if (!value.isWellFormed() || /\p{Cc}/u.test(value))
    return "holds a control character or half a surrogate pair";
  if (value.length > MAX_NAME_BYTES || utf8(value).length > MAX_NAME_BYTES)
    return `is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/** A text as a name: cut, and with U+FFFD for what no store takes. A sender must not be able to stop its own events. */
export function storableName(text: string, fallback: string): string {
  if (nameFault(text) === undefined) return text;
  const cleaned = text
    .slice(0, MAX_NAME_BYTES)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "\ufffd");
  let cut = "";
  let bytes = 0;
  for (const character of cleaned) {
    bytes += utf8(character).length;
    if (bytes > MAX_NAME_BYTES) break;
    cut += character;
  }
  return cut === "" ? fallback : cut;
}

// What Postgres and Date can both hold, with room for a retry schedule.
const EARLIEST_MS = Date.UTC(1970, 0, 1);
const LATEST_MS = Date.UTC(9000, 0, 1);

/** Whether every database takes this time: it lies between the years 1970 and 9000. */
export function isStorableTime(time: Date): boolean {
  return time.getTime() >= EARLIEST_MS && time.getTime() <= LATEST_MS;
}

/** The nearest time that every database takes; undefined for none. Refused by the database, the event would be answered 503 for ever. */
export function storableTime(time: Date | undefined): Date | undefined {
  if (time === undefined || Number.isNaN(time.getTime())) return undefined;
  return isStorableTime(time) ? time : new Date(time.getTime() < EARLIEST_MS ? EARLIEST_MS : LATEST_MS);
}
