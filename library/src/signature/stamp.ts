import { encodeBase64, utf8 } from "../bytes.js";
import type { LanePosition, Stamp } from "../event.js";
import { PosthornError } from "../posthorn-error.js";
import type { Content } from "./crypto/question.js";
import type { SignatureErrorCode } from "./signature-errors.js";

// Posthorn's ordering extension; spec/wire-format.md is its prose.

/** The headers of a stamp, in the order in which they are signed. */
export const STAMP_HEADERS = [
  "posthorn-generation",
  "posthorn-key",
  "posthorn-sequence",
  "posthorn-after",
  "posthorn-time",
  "posthorn-attempt",
  "posthorn-replay",
] as const;

/** The version of a stamp's signature entry, beside the standard version that its key makes. */
export const STAMP_VERSIONS = { v1: "ph1", v1a: "ph1a" } as const;

export type StampVersion = (typeof STAMP_VERSIONS)[keyof typeof STAMP_VERSIONS];

const MAX_SEQUENCE = 2n ** 63n - 1n;
const MAX_KEY_BYTES = 255;
// Fifteen digits: attempts and milliseconds that every language reads without rounding.
const MAX_PLAIN = 999_999_999_999_999;

/** Writes a stamp as header texts; an absent field is an empty text. Throws `event_unsignable` on what cannot be carried. */
export function writeStamp(stamp: Stamp): readonly string[] {
  const { lane, time, attempt, replay } = stamp;
  if (!Number.isSafeInteger(attempt) || attempt < 1 || attempt > MAX_PLAIN)
    throw unsignable(`attempt is ${attempt}; expected 1 or more`);
  // Written as "NaN" it would be signed, and every receiver would pass over the whole stamp.
  if (time !== undefined && !(Math.abs(time.getTime()) <= MAX_PLAIN))
    throw unsignable("its time is not a date, or too far away");
  return [
    decimal("generation", lane?.generation),
    lane === undefined ? "" : encodeKey(lane.key),
    decimal("sequence", lane?.sequence),
    decimal("after", lane?.after),
    time === undefined ? "" : String(time.getTime()),
    String(attempt),
    replay ? "1" : "",
  ];
}

/** Reads header texts back; undefined unless each has exactly the form that writeStamp gives it. */
export function parseStamp(texts: readonly string[]): Stamp | undefined {
  const [generation = "", key = "", sequence = "", after = "", time = "", attempt = "", replay = ""] = texts;
  const keyless = generation === "" && key === "" && sequence === "" && after === "";
  const lane = keyless ? undefined : parseLane(generation, key, sequence, after);
  if (!keyless && lane === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(attempt) || !/^(0|-?[1-9]\d{0,14})?$/.test(time) || !/^1?$/.test(replay))
    return undefined;
  return {
    lane,
    time: time === "" ? undefined : new Date(Number(time)),
    attempt: Number(attempt),
    replay: replay === "1",
  };
}

/**
 * What a stamp's signature covers. It holds the standard signature of the same key instead of the
 * body, which binds it to id, time and body without hashing the body twice. No standard content can
 * equal it: a line break comes before the first full stop, and ids hold no line break.
 */
export function stampContent(
  version: StampVersion,
  identity: { readonly id: string; readonly timestamp: string },
  texts: readonly string[],
  signature: Uint8Array,
): Content {
  return [[version, identity.id, identity.timestamp, ...texts, encodeBase64(signature)].join("\n")];
}

function parseLane(
  generation: string,
  key: string,
  sequence: string,
  after: string,
): LanePosition | undefined {
  const numbers = [generation, sequence, after === "" ? "0" : after].map(parseDecimal);
  const name = decodeKey(key);
  const [lane, seq, last] = numbers;
  if (lane === undefined || seq === undefined || last === undefined || name === undefined) return undefined;
  return { generation: lane, key: name, sequence: seq, after: after === "" ? undefined : last };
}

function parseDecimal(text: string): bigint | undefined {
  if (!/^(0|[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAX_SEQUENCE ? value : undefined;
}

function decimal(name: string, value: bigint | undefined): string {
  if (value === undefined) return "";
  if (value < 0n || value > MAX_SEQUENCE) throw unsignable(`${name} is ${value}; expected 0 to 2^63 - 1`);
  return value.toString();
}

// What no encoding changes; most keys are made of it.
const UNRESERVED_KEY = /^[\w.!~*'()-]{1,255}$/;

function encodeKey(key: string): string {
  if (UNRESERVED_KEY.test(key)) return key;
  if (key === "" || !key.isWellFormed()) throw unsignable("the key is empty or holds half a surrogate pair");
  if (isTooLong(key)) {
    throw unsignable(`the key is longer than ${MAX_KEY_BYTES} bytes`);
  }
  return encodeURIComponent(key);
}

function decodeKey(text: string): string | undefined {
  if (text === "" || text.length > MAX_KEY_BYTES * 3) return undefined;
  try {
    const key = decodeURIComponent(text);
    return encodeURIComponent(key) === text && !isTooLong(key) ? key : undefined;
  } catch {
    // Percent signs that do not decode: not a key that a sender of ours wrote.
    return undefined;
  }
}

function isTooLong(key: string): boolean {
  // One UTF-16 unit is at most three bytes of UTF-8: short keys need not be encoded to be measured.
  return key.length * 3 > MAX_KEY_BYTES && utf8(key).length > MAX_KEY_BYTES;
}

function unsignable(found: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("event_unsignable", `The event cannot be signed: ${found}.`);
}
