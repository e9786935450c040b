import { asObject, field } from "./json.js";

/** A place in a JSON value, by RFC 6901: `/data/object/id`, `/items/0`. */
export type JsonPointer = readonly string[];

/** Reads a pointer; undefined when the text is not one. */
export function parseJsonPointer(text: string): JsonPointer | undefined {
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a place; undefined when nothing was sent there. Never reaches a prototype. */
export function atPointer(json: unknown, pointer: JsonPointer): unknown {
  let value = json;
  for (const step of pointer) value = child(value, step);
  return value;
}

function child(value: unknown, step: string): unknown {
  if (!Array.isArray(value)) return field(asObject(value), step);
  return /^(0|[1-9]\d{0,8})$/.test(step) ? (value as readonly unknown[])[Number(step)] : undefined;
}
