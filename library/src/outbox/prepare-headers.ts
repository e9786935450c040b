import { headerFault } from "../event-headers.js";
import type { EventHeaders } from "../event-headers.js";

const MAX_HEADERS = 64;
const MAX_HEADER_BYTES = 8192;
// A colon, a space and the end of the line.
const BYTES_AROUND = 4;

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
    bytes += name.length + value.length + BYTES_AROUND;
  }
  if (headers.size > MAX_HEADERS)
    throw refuse(`it has ${headers.size} headers; at most ${MAX_HEADERS} are sent`);
  if (bytes > MAX_HEADER_BYTES) {
    throw refuse(`its headers have ${bytes} bytes; at most ${MAX_HEADER_BYTES} are sent`);
  }
  return headers.size === 0 ? undefined : Object.fromEntries(headers);
}
