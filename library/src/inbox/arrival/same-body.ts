import { equalBytes } from "../../bytes.js";

/**
 * In place of a hash where an event came from its provider's log: the log says what was sent, but not always in the same
 * bytes. Such an event is known by its id alone.
 */
export const UNKNOWN_BODY: Uint8Array = new Uint8Array(32);

/** Whether two deliveries of one id count as the same event. */
export function isSameBody(known: Uint8Array, arrived: Uint8Array): boolean {
  return equalBytes(known, arrived) || equalBytes(known, UNKNOWN_BODY) || equalBytes(arrived, UNKNOWN_BODY);
}
