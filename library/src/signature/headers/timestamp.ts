import { PosthornError } from "../../posthorn-error.js";
import type { SignatureErrorCode } from "../signature-errors.js";

/**
 * Reads a signed time in unix seconds. Digits only: `parseInt` would take `1794770453abc`, and a signed text
 * that two readers understand differently is a hole.
 */
export function parseTimestamp(text: string, header: string): number {
  if (/^[1-9]\d{0,10}$/.test(text)) return Number(text);
  throw malformed(text, header, "seconds");
}

/** The same for providers that sign milliseconds; the result is in whole seconds. */
export function parseTimestampMs(text: string, header: string): number {
  if (/^[1-9]\d{0,13}$/.test(text)) return Math.floor(Number(text) / 1000);
  throw malformed(text, header, "milliseconds");
}

function malformed(text: string, header: string, unit: string): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "timestamp_malformed",
    `The header "${header}" must be a whole number of unix ${unit}.`,
    {
      detail: { header, found: text.slice(0, 32) },
    },
  );
}

/**
 * Refuses a body that starts with a digit, for schemes that sign time and body without a sign between
 * them: the last digits of the time could stand before the body, and the signature would still hold.
 */
export function refuseLeadingDigit(body: Uint8Array): void {
  const first = body[0] ?? 0;
  if (first < 0x30 || first > 0x39) return;
  throw new PosthornError<SignatureErrorCode>(
    "body_malformed",
    "The body starts with a digit; expected JSON that starts with a brace or a bracket.",
  );
}

/** Throws when the signed time is further from now than allowed, in either direction, naming the skew. */
export function checkTimestamp(signedAtS: number, nowMs: number, toleranceS: number): void {
  const skewS = Math.floor(nowMs / 1000) - signedAtS;
  if (Math.abs(skewS) <= toleranceS) return;
  const where = skewS > 0 ? "in the past" : "in the future";
  throw new PosthornError<SignatureErrorCode>(
    "timestamp_out_of_range",
    `The signed time is ${Math.abs(skewS)} s ${where}; at most ${toleranceS} s are allowed. Check both clocks.`,
    { detail: { skewS, toleranceS } },
  );
}
