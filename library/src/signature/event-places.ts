import { numberText, parseJson } from "../json.js";
import { atPointer } from "../json-pointer.js";
import type { Place } from "../place.js";
import { textTime, unixTime } from "./event-time.js";
import { findHeader } from "./headers/headers.js";
import type { DescribedScheme, EventIdentity, SignedRequest } from "./scheme.js";

/** Where a request carries what names its event; undefined for what it does not carry. */
export interface EventPlaces {
  readonly id: Place | undefined;
  readonly type: Place | undefined;
  readonly time: (Place & { readonly unit: "iso" | "s" | "ms" }) | undefined;
}

/** Names the event of a request by its places. Total: what cannot be read is undefined. */
export function identityAt(places: EventPlaces, request: SignedRequest): EventIdentity {
  const json = parseJson(request.body);
  const id = places.id === undefined ? undefined : textAt(places.id, request, json);
  const type = places.type === undefined ? undefined : textAt(places.type, request, json);
  return { id, type, time: timeAt(places.time, request, json) };
}

/** The places in words, for docs/providers.md. */
export function sayPlaces({ id, type, time }: EventPlaces): DescribedScheme["identity"] {
  return {
    id: id === undefined ? "none: the body's hash tells events apart" : say(id),
    type: type === undefined ? "none" : say(type),
    time: time && say(time),
  };
}

function say(place: Place): string {
  return "header" in place ? `header \`${place.header}\`` : `body \`${place.pointer.join(".")}\``;
}

function textAt(place: Place, request: SignedRequest, json: unknown): string | undefined {
  if ("header" in place) return findHeader(request.headers, place.header);
  const value = atPointer(json, place.pointer);
  if (typeof value === "string" && value !== "") return value;
  if (typeof value !== "number") return undefined;
  const [name, ...deeper] = place.pointer;
  // Above 2^53 JSON.parse rounds; deeper down no exact text can be had, and no id is better than a shared one.
  if (name !== undefined && deeper.length === 0) return numberText(request.body, name);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

function timeAt(place: EventPlaces["time"], request: SignedRequest, json: unknown): Date | undefined {
  const text = place === undefined ? undefined : textAt(place, request, json);
  if (place === undefined || text === undefined) return undefined;
  if (place.unit === "iso") return textTime(text);
  return /^\d{1,15}$/.test(text) ? unixTime(Number(text) / (place.unit === "ms" ? 1000 : 1)) : undefined;
}
