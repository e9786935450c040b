import { Buffer } from "node:buffer";
import { sha256 } from "./content-hash.js";
import { atPointer } from "./json-pointer.js";
import type { JsonPointer } from "./json-pointer.js";
import type { RequestHeaders } from "./received-request.js";
import { isStorable } from "./storable-text.js";

/** Where the key stands by which events are in order. */
export type KeyPlace = { readonly header: string } | { readonly pointer: JsonPointer };

/** The key of an event; undefined where nothing stands in its place: it is in no order then. */
export function orderingKey(place: KeyPlace, headers: RequestHeaders, body: Uint8Array): string | undefined {
  const text = "header" in place ? headerText(headers, place.header) : jsonText(place.pointer, body);
  if (text === undefined || text === "") return undefined;
  // Left out, its events would lose their order; cut, they would share a lane with others.
  return isStorable(text)
    ? text
    : `sha256:${Buffer.from(sha256(Buffer.from(text, "utf16le"))).toString("hex")}`;
}

function headerText(headers: RequestHeaders, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === "string" ? value : value?.join(", ");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function jsonText(pointer: JsonPointer, body: Uint8Array): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(decoder.decode(body));
  } catch {
    // No JSON, no key: the event is taken all the same.
    return undefined;
  }
  const value = atPointer(json, pointer);
  // Numbers above 2^53 are rounded: neighbours then share a lane, and are in order among each other too.
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;
}
