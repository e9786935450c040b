import { isHeaderName } from "./event-headers.js";
import { parseJsonPointer } from "./json-pointer.js";
import type { JsonPointer } from "./json-pointer.js";

/** A place in a request: a header, or a JSON pointer such as `/data/id` into the body. */
export type PlaceOption = { readonly header: string } | { readonly json: string };

/** The same, checked: the header's name in lower case, the pointer by its steps. */
export type Place = { readonly header: string } | { readonly pointer: JsonPointer };

/** A place as it was written. */
export function placeText(place: Place): string {
  if ("header" in place) return `{ header: ${JSON.stringify(place.header)} }`;
  const steps = place.pointer.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  return `{ json: ${JSON.stringify(steps.join(""))} }`;
}

/** Reads a place; undefined when the value is none, or names two. */
export function parsePlace(value: unknown): Place | undefined {
  // Callers without types can hand in anything, a text included.
  const { header, json } = Object(value) as { readonly header?: unknown; readonly json?: unknown };
  if (json === undefined) return isHeaderName(header) ? { header: header.toLowerCase() } : undefined;
  const pointer = header === undefined ? parseJsonPointer(json) : undefined;
  return pointer && { pointer };
}
