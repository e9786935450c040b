import type { Chance } from "../chance.js";
import type { Change } from "./sample.js";
import { after, before, changeHeader, removeHeader } from "./sample.js";

// Mistakes, accidents and attacks, the same for every provider.

export const NOW_S = 1_794_770_453;

const BOM = Buffer.from("\ufeff");
const REPLACEMENT = Buffer.from("\ufffd");

/** A body as providers send it, or as nobody should. */
export function drawBody(chance: Chance): Buffer {
  const value = {
    type: "invoice.paid",
    id: `evt_${chance.below(1e6)}`,
    name: chance.pick(["Ada", "Zoë", "📯"]),
    n: chance.below(9),
  };
  switch (chance.below(12)) {
    case 0:
      return Buffer.from(JSON.stringify(value, null, 2));
    case 1:
      return Buffer.from('{"type": "a", "name": "Zo\\u00eb", "big": 12345678901234567890, "float": 1.0}');
    case 2:
      return Buffer.from(chance.pick(["plain text", "payload=%7B%7D&a=b", "0123", '"text"', "[]", "null"]));
    case 3:
      return chance.pick([
        Buffer.alloc(0),
        Buffer.from("\n"),
        Buffer.from('{"a":"\0"}'),
        Buffer.from('{\r\n"a":1}\r\n'),
      ]);
    case 4:
      return Buffer.concat([chance.pick([BOM, Buffer.alloc(0)]), Buffer.from(JSON.stringify(value))]);
    case 5:
      return chance.pick([
        Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
        Buffer.from('{"a":"\ufffd"}'),
        Buffer.from('{"b":"\ufffd"}'),
        chance.bytes(12),
      ]);
    default:
      return Buffer.from(JSON.stringify(value));
  }
}

/** A time that may be at or beyond the tolerance. */
export function drawTime(chance: Chance, toleranceS: number): number {
  const edge = chance.pick([toleranceS - 1, toleranceS, toleranceS + 1, toleranceS * 20]);
  return NOW_S + chance.pick([0, 0, 0, 0, 0, 0, 0, 0, -1, edge, -edge]);
}

export function changeBody(chance: Chance): Change {
  const [name, apply] = chance.pick(bodyEdits(chance));
  return after(`body ${name}`, (sample) => ({ ...sample, body: apply(sample.body) }));
}

type Edit<Value> = readonly [name: string, apply: (value: Value) => Value];

function bodyEdits(chance: Chance): readonly Edit<Buffer>[] {
  const where = chance.below(1000);
  return [
    ["bit flipped", (body) => flipBit(body, where)],
    ["one byte short", (body) => body.subarray(0, -1)],
    ["one byte long", (body) => Buffer.concat([body, Buffer.from(" ")])],
    ["with a line break", (body) => Buffer.concat([body, Buffer.from("\n")])],
    ["with a byte order mark", (body) => Buffer.concat([BOM, body])],
    ["without its byte order mark", (body) => (body.subarray(0, 3).equals(BOM) ? body.subarray(3) : body)],
    ["from CRLF to LF", (body) => Buffer.from(body.toString("latin1").replaceAll("\r\n", "\n"), "latin1")],
    ["written again", (body) => rewritten(body, 0)],
    ["written again with spaces", (body) => rewritten(body, 2)],
    ["with U+FFFD as a broken byte", (body) => replaceFirst(body, REPLACEMENT, Buffer.from([0xff]))],
    ["with U+FFFD as a broken letter", (body) => replaceFirst(body, REPLACEMENT, Buffer.from([0xc3]))],
    ["with a broken byte as U+FFFD", (body) => replaceFirst(body, Buffer.from([0xff]), REPLACEMENT)],
    ["emptied", () => Buffer.alloc(0)],
  ];
}

function flipBit(body: Buffer, where: number): Buffer {
  const changed = Buffer.from(body);
  if (changed.length > 0)
    changed[where % changed.length] = (changed[where % changed.length] ?? 0) ^ (1 << (where % 8));
  return changed;
}

function rewritten(body: Buffer, indent: number): Buffer {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, indent));
  } catch {
    return body;
  }
}

function replaceFirst(body: Buffer, search: Buffer, replacement: Buffer): Buffer {
  const index = body.indexOf(search);
  if (index < 0) return body;
  return Buffer.concat([body.subarray(0, index), replacement, body.subarray(index + search.length)]);
}

export function changeSecret(chance: Chance): Change {
  const [name, apply] = chance.pick<Edit<string>>([
    ["another", (secret) => secret.replace(/.$/, (last) => (last === "a" ? "b" : "a"))],
    ["with a space", (secret) => `${secret} `],
    ["with a line break", (secret) => `${secret}\n`],
    ["cut", (secret) => secret.slice(0, -4)],
  ]);
  return after(`secret ${name}`, (sample) => ({ ...sample, secret: apply(sample.secret) }));
}

const TIME_EDITS: readonly Edit<string>[] = [
  ["with letters behind", (time) => `${time}abc`],
  ["with a space behind", (time) => `${time} `],
  ["with a space before", (time) => ` ${time}`],
  ["with a plus sign", (time) => `+${time}`],
  ["with a zero before", (time) => `0${time}`],
  ["with a fraction", (time) => `${time}.5`],
  ["with three more digits", (time) => `${time}000`],
  ["in hexadecimal", (time) => `0x${Number(time).toString(16)}`],
  ["in exponent form", (time) => `${Number(time) / 1e9}e9`],
  ["not a number", () => "soon"],
  ["negative", (time) => `-${time}`],
  ["NaN", () => "NaN"],
];

/** The sender itself writes its time oddly. */
export function changeTimeBefore(chance: Chance): Change {
  const [name, apply] = chance.pick(TIME_EDITS);
  return before(`time signed ${name}`, (parts) => ({ ...parts, time: apply(parts.time) }));
}

/** Somebody changes the time on the way. */
export function changeTimeAfter(chance: Chance, header: string, start: RegExp): Change {
  const [name, apply] = chance.pick<Edit<string>>([
    ...TIME_EDITS,
    ["a second later", (time) => String(Number(time) + 1)],
  ]);
  return changeHeader(`time ${name}`, header, (value) => {
    return value.replace(start, (whole: string, time: string) => {
      return whole.slice(0, whole.length - time.length) + apply(time);
    });
  });
}

export function dropHeader(chance: Chance, headers: readonly string[]): Change {
  const header = chance.pick(headers);
  return chance.below(2) === 0 ? removeHeader(header) : changeHeader("emptied", header, () => "");
}

/** How a header with one signature, or a list of them, can go wrong. */
export function changeSignature(chance: Chance, form: SignatureShape): Change {
  const [name, apply] = chance.pick([
    ...textEdits(chance),
    ...(form.list === undefined ? [] : listEdits(form.list)),
  ]);
  return changeHeader(`signature ${name}`, form.header, apply);
}

export interface SignatureShape {
  readonly header: string;
  /** For headers that hold entries: what stands between them, and before a signature. */
  readonly list?: { readonly separator: string; readonly prefix: string };
}

function textEdits(chance: Chance): readonly Edit<string>[] {
  const where = chance.below(1000);
  return [
    ["in capitals", (value) => value.replace(/[0-9a-f]{40,}/, (hex) => hex.toUpperCase())],
    ["with a character changed", (value) => editAt(value, where, (char) => (char === "a" ? "b" : "a"))],
    ["with a character removed", (value) => editAt(value, where, () => "")],
    ["with a letter that is not ASCII", (value) => editAt(value, value.length - 8, () => "é")],
    ["with a character repeated", (value) => editAt(value, where, (char) => char + char)],
    ["with its last digit as g", (value) => editAt(value, value.length - 1, () => "g")],
    ["without padding", (value) => value.replaceAll(/=+(?=$|[ ,;])/g, "")],
    ["with more padding", (value) => `${value}=`],
    ["in the url-safe alphabet", (value) => value.replaceAll("+", "-").replaceAll("/", "_")],
    ["with unused bits", (value) => value.replace(/[A-Za-z0-9+/](?==)/, (char) => nextBase64(char))],
    ["with a space behind", (value) => `${value} `],
    ["with a space before", (value) => ` ${value}`],
    ["in quotes", (value) => `"${value}"`],
    ["with a comma and junk behind", (value) => `${value},junk`],
    ["with an equals sign and junk behind", (value) => `${value}=junk`],
    ["with an equals sign and 9 kB behind", (value) => `${value}=${"0".repeat(9000)}`],
    ["without what stands before it", (value) => value.replace(/^[a-z0-9]+[=,]/, "")],
    ["one character", () => "v"],
    ["9 kB long", (value) => value + "0".repeat(9000)],
  ];
}

function listEdits({ separator, prefix }: NonNullable<SignatureShape["list"]>): readonly Edit<string>[] {
  const wrong = `${prefix}${"0".repeat(64)}`;
  const repeat = (count: number): string => Array(count).fill(wrong).join(separator);
  return [
    ["after a wrong one", (value) => insertBefore(value, prefix, `${wrong}${separator}`)],
    ["before a wrong one", (value) => `${value}${separator}${wrong}`],
    ["after 20 wrong ones", (value) => insertBefore(value, prefix, `${repeat(20)}${separator}`)],
    [
      "after an unknown version",
      (value) => insertBefore(value, prefix, `v9${prefix.slice(-1)}abc${separator}`),
    ],
    ["after an empty one", (value) => insertBefore(value, prefix, `${prefix}${separator}`)],
    [
      "after one that is not ASCII",
      (value) => insertBefore(value, prefix, `${prefix}${"é".repeat(64)}${separator}`),
    ],
    ["prefix only", () => prefix],
    ["with spaces after separators", (value) => value.replaceAll(separator, `${separator} `)],
    ["twice", (value) => `${value}${separator}${value}`],
    ["backwards", (value) => value.split(separator).toReversed().join(separator)],
    ["with its prefix in capitals", (value) => value.replace(prefix, prefix.toUpperCase())],
    ["with its prefix twice", (value) => value.replace(prefix, prefix + prefix)],
  ];
}

function editAt(text: string, where: number, edit: (char: string) => string): string {
  if (text === "") return text;
  const index = Math.max(0, where) % text.length;
  return text.slice(0, index) + edit(text.charAt(index)) + text.slice(index + 1);
}

function insertBefore(text: string, mark: string, inserted: string): string {
  const index = text.indexOf(mark);
  return index < 0 ? inserted + text : text.slice(0, index) + inserted + text.slice(index);
}

function nextBase64(char: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return alphabet.charAt((alphabet.indexOf(char) + 1) % 64);
}
