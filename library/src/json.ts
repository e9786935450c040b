// Bodies are read, never rewritten: nothing here merges, walks deeply or stringifies what came in.

export type JsonObject = Readonly<Record<string, unknown>>;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The JSON value of a body; undefined when it is not valid UTF-8 or not valid JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    // Not JSON: an expected state of a body, told by undefined (which JSON itself cannot hold).
    return undefined;
  }
}

/** The JSON object of a body; undefined when it is anything else, an array included. */
export function jsonObject(body: Uint8Array): JsonObject | undefined {
  return asObject(parseJson(body));
}

/** The value as an object; undefined when it is anything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** An own field of an object, so that a key called `constructor` or `__proto__` finds only what was sent. */
export function field(object: JsonObject | undefined, name: string): unknown {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** An own field that is a non-empty text; undefined otherwise. */
export function textField(object: JsonObject | undefined, name: string): string | undefined {
  const value = field(object, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An own field that is an object; undefined otherwise. */
export function objectField(object: JsonObject | undefined, name: string): JsonObject | undefined {
  return asObject(field(object, name));
}

/** The elements of a JSON array as slices of the very bytes; undefined when the body is not an array. */
export function elements(body: Uint8Array): readonly Uint8Array[] | undefined {
  return Array.isArray(parseJson(body)) ? children(body) : undefined;
}

/** A member of a JSON object, its value as a slice of the very bytes. */
export interface JsonMember {
  readonly name: string;
  readonly value: Uint8Array;
}

/** The members of a JSON object in their order, equal names included; undefined when the body is anything else. */
export function members(body: Uint8Array): readonly JsonMember[] | undefined {
  return jsonObject(body) === undefined ? undefined : children(body).map(memberOf);
}

function memberOf(slice: Uint8Array): JsonMember {
  const end = endOfString(slice, 0) + 1;
  const name = JSON.parse(decoder.decode(slice.subarray(0, end))) as string;
  const colon = slice.indexOf(COLON, end);
  return { name, value: trim(slice.subarray(colon + 1)) };
}

/**
 * The exact text of a number among the members of a JSON object. `JSON.parse` rounds what is above
 * 2^53, and two events with neighbouring ids would then be one.
 */
export function numberText(object: Uint8Array, name: string): string | undefined {
  // The last of several equal names wins, as it does for JSON.parse, also over a number with a text.
  const last = members(object)?.findLast((member) => member.name === name);
  const text = last && decoder.decode(last.value);
  return text !== undefined && /^-?\d+$/.test(text) ? text : undefined;
}

/** How deep the arrays and objects of valid JSON are nested: 0 for a number or a text. */
export function depthOf(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index] as number;
    if (byte === QUOTE) index = endOfString(json, index);
    else if (isOpening(byte)) deepest = Math.max(deepest, ++depth);
    else if (isClosing(byte)) depth--;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Splits valid JSON at the commas of its outermost array or object, without recursion, in one pass. */
function children(json: Uint8Array): readonly Uint8Array[] {
  const slices: Uint8Array[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index] as number;
    if (byte === QUOTE) {
      index = endOfString(json, index);
    } else if (isOpening(byte)) {
      if (++depth === 1) start = index + 1;
    } else if (isClosing(byte) ? --depth === 0 : byte === COMMA && depth === 1) {
      const slice = trim(json.subarray(start, index));
      if (slice.length > 0) slices.push(slice);
      start = index + 1;
    }
  }
  return slices;
}

function endOfString(json: Uint8Array, opening: number): number {
  let index = opening + 1;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}

function isOpening(byte: number): boolean {
  return byte === 0x7b || byte === 0x5b;
}

function isClosing(byte: number): boolean {
  return byte === 0x7d || byte === 0x5d;
}

function trim(bytes: Uint8Array): Uint8Array {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return bytes.subarray(start, end);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
