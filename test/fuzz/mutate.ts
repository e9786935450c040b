import type { Chance } from "../chance.js";
import type { PlainRequest } from "./seeds.js";

const MAX_BODY_BYTES = 65_536;
const MAX_HEADER_LENGTH = 20_000;

// What parsers of signatures, times, JSON, forms and URLs look for, and what breaks careless ones.
const TOKENS = [
  ",",
  "=",
  ";",
  " ",
  ".",
  ":",
  "&",
  "|",
  "%",
  "/",
  "?",
  "#",
  "@",
  "+",
  "-",
  "_",
  "\\",
  '"',
  "'",
  "\0",
  "\n",
  "\r\n",
  "\t",
  "v1,",
  "v1a,",
  "ph1,",
  "v1=",
  "v0=",
  "h1=",
  "t=",
  "ts=",
  "sha256=",
  "whsec_",
  "whpk_",
  "==",
  "%2",
  "%00",
  "%ff",
  "0x",
  "-0",
  "1e400",
  "NaN",
  "null",
  "true",
  "[]",
  "{}",
  "[[",
  '{"',
  '"}',
  "é",
  "\u212a",
  "\ud800",
  "\ufeff",
  "\ufffd",
  "📯",
  "__proto__",
  "constructor",
  "toString",
  "https://",
  "bodySHA256=",
  "9007199254740993",
  "00",
  "A",
  "z",
];

/** The request with one to four changes. */
export function mutateRequest(request: PlainRequest, other: PlainRequest, chance: Chance): PlainRequest {
  let mutated = request;
  for (let count = 1 + chance.below(4); count > 0; count--) mutated = mutateOnce(mutated, other, chance);
  return mutated;
}

function mutateOnce(request: PlainRequest, other: PlainRequest, chance: Chance): PlainRequest {
  switch (chance.below(12)) {
    case 0:
    case 1:
    case 2:
      return { ...request, body: mutateBytes(request.body, chance) };
    case 3:
      return { ...request, body: other.body };
    case 4:
      return { ...request, headers: { ...request.headers, ...other.headers } };
    case 5:
      return request.url === undefined ? request : { ...request, url: mutateText(request.url, chance) };
    case 6:
      return { ...request, method: chance.pick(["GET", "POST", "", "post", "PUT\0"]) };
    default:
      return { ...request, headers: mutateHeaders(request.headers, chance) };
  }
}

function mutateHeaders(headers: PlainRequest["headers"], chance: Chance): PlainRequest["headers"] {
  const entries = Object.entries(headers);
  if (entries.length === 0) return { [chance.pick(TOKENS)]: chance.pick(TOKENS) };
  const [name, value] = chance.pick(entries);
  const text = typeof value === "string" ? value : (value[0] ?? "");
  const others = Object.fromEntries(entries.filter(([each]) => each !== name));
  switch (chance.below(10)) {
    case 0:
      return others;
    case 1:
      return {
        ...headers,
        [name]: chance.pick([[], [text], [text, text], [text, mutateText(text, chance)]]),
      };
    case 2:
      return {
        ...others,
        [chance.pick([name.toUpperCase(), `${name} `, `x-${name}`, name.replaceAll("-", "_")])]: value,
      };
    case 3:
      return { ...headers, [name]: chance.pick(entries)[1] };
    case 4:
      // An own key called __proto__, as JSON.parse and Node make it.
      return Object.defineProperty({ ...headers }, "__proto__", { value: text, enumerable: true });
    default:
      return { ...headers, [name]: mutateText(text, chance) };
  }
}

/** A text with one change. */
export function mutateText(text: string, chance: Chance): string {
  const from = chance.below(text.length + 1);
  const to = Math.min(text.length, from + 1 + chance.below(8));
  const slice = text.slice(from, to);
  switch (chance.below(9)) {
    case 0:
      return text.slice(0, from) + text.slice(to);
    case 1:
      return text.slice(0, from) + chance.pick(TOKENS) + text.slice(from);
    case 2:
      return text.slice(0, from) + chance.pick(TOKENS) + text.slice(to);
    case 3:
      return text.slice(0, from) + String.fromCharCode(chance.below(300)) + text.slice(from + 1);
    case 4:
      return text.slice(0, from) + slice.repeat(1 + chance.below(20)) + text.slice(to);
    case 5:
      return text.slice(0, from) + flipCase(slice) + text.slice(to);
    case 6:
      return text.slice(0, from);
    case 7:
      return text.slice(from) + text.slice(0, from);
    default:
      return `${text}${chance.pick(TOKENS).repeat(chance.below(200))}`.slice(0, MAX_HEADER_LENGTH);
  }
}

function flipCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
}

/** Bytes with one change. */
export function mutateBytes(bytes: Uint8Array, chance: Chance): Uint8Array {
  const from = chance.below(bytes.length + 1);
  const to = Math.min(bytes.length, from + 1 + chance.below(8));
  const token = Buffer.from(chance.pick(TOKENS));
  const changed = ((): Uint8Array[] => {
    switch (chance.below(8)) {
      case 0:
        return [bytes.subarray(0, from), bytes.subarray(to)];
      case 1:
        return [bytes.subarray(0, from), token, bytes.subarray(from)];
      case 2:
        return [bytes.subarray(0, from), token, bytes.subarray(to)];
      case 3:
        return [bytes.subarray(0, from), chance.bytes(1), bytes.subarray(from + 1)];
      case 4:
        return [bytes.subarray(0, to), bytes.subarray(from, to), bytes.subarray(to)];
      case 5:
        return [bytes.subarray(0, from)];
      case 6:
        return [bytes, ...Array<Uint8Array>(chance.below(64)).fill(token)];
      default:
        return [flipBit(bytes, from, chance.below(8))];
    }
  })();
  return Buffer.concat(changed).subarray(0, MAX_BODY_BYTES);
}

function flipBit(bytes: Uint8Array, index: number, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  if (index < flipped.length) flipped[index] = (flipped[index] ?? 0) ^ (1 << bit);
  return flipped;
}

/** A request of nothing but chance, under the names that the seed has. */
export function randomRequest(request: PlainRequest, chance: Chance): PlainRequest {
  const names = Object.keys(request.headers);
  const headers = Object.fromEntries(names.map((name) => [name, randomText(chance)]));
  const url = chance.pick(["https://example.com/", "/", randomText(chance)]);
  return { headers, body: chance.bytes(chance.below(64)), url, method: "POST" };
}

function randomText(chance: Chance): string {
  let text = "";
  for (let count = chance.below(12); count > 0; count--) {
    text +=
      chance.below(3) === 0
        ? chance.pick(TOKENS)
        : String.fromCharCode(chance.below(chance.pick([128, 256, 65_536])));
  }
  return text;
}
