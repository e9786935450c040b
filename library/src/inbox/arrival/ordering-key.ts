import { parseJson } from "../../json.js";
import { atPointer, wholeAt } from "../../json-pointer.js";
import type { Place } from "../../place.js";
import { rawHeader } from "../../signature/headers/headers.js";
import type { HeaderBag } from "../../signature/headers/headers.js";
import { nameFault } from "../../storable.js";
import { hashedText } from "./stored-id.js";

/** The key of an event; undefined where nothing stands in its place: the event is in no order then. */
export function orderingKey(place: Place, headers: HeaderBag, body: Uint8Array): string | undefined {
  const text = textAt(place, headers, body);
  return text === undefined || text === "" ? undefined : storableKey(text);
}

/** What stands in a place of a request, as text. */
export function textAt(place: Place, headers: HeaderBag, body: Uint8Array): string | undefined {
  return "header" in place ? headerText(headers, place.header) : jsonText(place, body);
}

/** A key in the form in which stores keep it. */
export function storableKey(text: string): string {
  // Left out, the events of this key would lose their order; cut, they would share a lane with others.
  return nameFault(text) === undefined ? text : hashedText(text);
}

function headerText(headers: HeaderBag, name: string): string | undefined {
  const value = rawHeader(headers, name);
  return typeof value === "string" ? value : value?.join(", ");
}

function jsonText({ pointer }: Exclude<Place, { header: string }>, body: Uint8Array): string | undefined {
  const value = atPointer(parseJson(body), pointer);
  if (typeof value === "string") return value;
  // Rounded, two keys would share a lane, and an event would look like the one that it waits for.
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    return wholeAt(body, pointer) ?? String(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
