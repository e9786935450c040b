/** A place in a JSON value, by RFC 6901: `/data/object/id`, `/items/0`. */
export type JsonPointer = readonly string[];

/** Reads a pointer; undefined when the text is not one. The empty one, the whole value, is none here. */
export function parsePointer(text: unknown): JsonPointer | undefined {
  if (typeof text !== "string" || !text.startsWith("/") || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a place; undefined when nothing was sent there. Never reaches a prototype. */
export function atPointer(json: unknown, pointer: JsonPointer): unknown {
  let value = json;
  for (const step of pointer) {
    if (typeof value !== "object" || value === null) return undefined;
    // An array's `length` is its own too, and nobody sent it.
    if (Array.isArray(value) && !/^(0|[1-9]\d{0,8})$/.test(step)) return undefined;
    value = Object.hasOwn(value, step) ? (value as Readonly<Record<string, unknown>>)[step] : undefined;
  }
  return value;
}
