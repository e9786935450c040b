import { decodeHex } from "../../../bytes.js";

// A loop over the digits was a tenth of what a delivery costs its process.
const native = typeof Buffer === "function" ? Buffer : undefined;

/** The bytes of a column that the server wrote with `encode(…, 'hex')`. */
export function bytesOfHex(text: string): Uint8Array {
  return native?.from(text, "hex") ?? decodeHex(text) ?? new Uint8Array();
}
