import { headerBytes, headerFault, MAX_EVENT_HEADER_BYTES, MAX_EVENT_HEADERS } from "../event-headers.js";
import type { EventHeaders } from "../event-headers.js";

/**
 * The headers of a publication, with names in lower case; undefined where there are none. Throws what `refuse` makes of
 * a fault when they could not be sent as they are.
 */
export function prepareHeaders(given: unknown, refuse: (found: string) => Error): EventHeaders | undefined {
  if (given === undefined) return undefined;
  // A Headers or a Map has no properties of its own: its headers would be left out without a word.
  if (Object.prototype.toString.call(given) !== "[object Object]") {
    throw refuse("`headers` must be a plain object of texts");
  }
  const headers = new Map<string, string>();
  let bytes = 0;
  for (const [written, value] of Object.entries(given as Record<string, string>)) {
    const name = written.toLowerCase();
    const fault = headerFault(name, value) ?? (headers.has(name) ? "is given twice" : undefined);
    if (fault !== undefined) throw refuse(`the header ${JSON.stringify(written).slice(0, 80)} ${fault}`);
    headers.set(name, value);
    bytes += headerBytes(name, value);
  }
  if (headers.size > MAX_EVENT_HEADERS)
    throw refuse(`it has ${headers.size} headers; at most ${MAX_EVENT_HEADERS} are sent`);
  if (bytes > MAX_EVENT_HEADER_BYTES) {
    throw refuse(`its headers have ${bytes} bytes; at most ${MAX_EVENT_HEADER_BYTES} are sent`);
  }
  return headers.size === 0 ? undefined : Object.fromEntries(headers);
}
