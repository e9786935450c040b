import { countEnds, pointerTree } from "./json-pointer.js";
import type { JsonPointer, PointerTree } from "./json-pointer.js";

/** Which parts of a body count. */
export interface CanonicalRule {
  readonly include: PointerTree | undefined;
  readonly includes: number;
  readonly exclude: PointerTree | undefined;
}

/** Makes a rule of JSON pointers: what of a document counts, and what of that does not. */
export function canonicalRule(
  include: readonly JsonPointer[],
  exclude: readonly JsonPointer[],
): CanonicalRule {
  const included = pointerTree(include);
  return {
    include: included,
    includes: included === undefined ? 0 : countEnds(included),
    exclude: pointerTree(exclude),
  };
}

/** The whole value counts. */
export const WHOLE: CanonicalRule = canonicalRule([], []);

// Keeps what came as it came: a byte order mark is no JSON.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The canonical form of a JSON text, as RFC 8785 says it: the same for all writings of one value. Undefined where there
 * is none, or where another value would have the same: no JSON, a name twice in an object, half of a surrogate pair, a
 * number that would be rounded into another integer, a place to include that is missing, or nothing left after what is
 * excluded. Whoever takes it for an identity would lose an event otherwise.
 */
export function canonicalJson(body: Uint8Array, rule: CanonicalRule = WHOLE): string | undefined {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return undefined;
  }
  const reader = new CanonicalReader(text, rule);
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof Uncanonical) return undefined;
    throw error;
  }
}

/** The text has no canonical form. */
class Uncanonical extends Error {}

const MAX_DEPTH = 128;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
/** Which pointers lead on from the value that is being read. */
interface Scope {
  /** Undefined: all of it counts. */
  readonly include: PointerTree | undefined;
  readonly exclude: PointerTree | undefined;
}

/**
 * Writes while it reads, so that no value is ever built: `JSON.parse` would have merged names that stand twice by then.
 * It calls itself for each level, up to a depth at which no stack is in danger.
 */
class CanonicalReader {
  readonly #text: string;
  readonly #rule: CanonicalRule;
  #at = 0;
  #depth = 0;
  #included = 0;

  constructor(text: string, rule: CanonicalRule) {
    this.#text = text;
    this.#rule = rule;
  }

  read(): string {
    this.#skipSpace();
    const written = this.#value(this.#rule);
    this.#skipSpace();
    if (this.#at !== this.#text.length || this.#included !== this.#rule.includes) throw new Uncanonical();
    if (this.#rule.exclude !== undefined && (written === "{}" || written === "[]")) throw new Uncanonical();
    return written;
  }

  #value(scope: Scope): string {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#nested(scope, "}");
      case 0x5b:
        return this.#nested(scope, "]");
      case 0x22:
        return this.#string();
      case 0x74:
        return this.#word("true");
      case 0x66:
        return this.#word("false");
      case 0x6e:
        return this.#word("null");
      default:
        return this.#number();
    }
  }

  #nested(scope: Scope, end: "}" | "]"): string {
    if (++this.#depth > MAX_DEPTH) throw new Uncanonical();
    this.#at++;
    this.#skipSpace();
    const written = end === "}" ? this.#members(scope) : this.#elements(scope);
    this.#word(end);
    this.#depth--;
    return written;
  }

  #members(scope: Scope): string {
    const members = new Map<string, string>();
    const seen = new Set<string>();
    if (this.#text[this.#at] === "}") return "{}";
    do {
      this.#skipSpace();
      const written = this.#string();
      const name = JSON.parse(written) as string;
      if (seen.has(name)) throw new Uncanonical();
      seen.add(name);
      this.#skipSpace();
      this.#word(":");
      const value = this.#child(scope, name);
      if (value !== undefined) members.set(name, `${written}:${value}`);
    } while (this.#goesOn());
    // By UTF-16 code units, which is how JavaScript compares texts.
    return `{${[...members.keys()]
      .toSorted(byCodeUnits)
      .map((name) => members.get(name))
      .join(",")}}`;
  }

  #elements(scope: Scope): string {
    const elements: string[] = [];
    if (this.#text[this.#at] === "]") return "[]";
    let index = 0;
    do {
      const value = this.#child(scope, String(index++));
      if (value !== undefined) elements.push(value);
    } while (this.#goesOn());
    return `[${elements.join(",")}]`;
  }

  /** What a member or element adds; undefined where it does not count. It is read in any case: it must be JSON. */
  #child({ include, exclude }: Scope, step: string): string | undefined {
    this.#skipSpace();
    const included = include?.steps.get(step);
    const excluded = exclude?.steps.get(step);
    const counts = include === undefined || included !== undefined;
    if (included?.ends === true) this.#included++;
    const below: Scope = {
      include: counts && included?.ends !== true ? included : undefined,
      exclude: excluded?.ends === true ? undefined : excluded,
    };
    const value = this.#value(below);
    this.#skipSpace();
    return counts && excluded?.ends !== true ? value : undefined;
  }

  #goesOn(): boolean {
    if (this.#text[this.#at] !== ",") return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    const plain = this.#skipString();
    const written = this.#text.slice(start, this.#at);
    // Decoded from UTF-8 without fault, it holds no half of a pair; only an escape can bring one.
    if (plain) return written;
    const text = parsedText(written);
    if (!text.isWellFormed()) throw new Uncanonical();
    return JSON.stringify(text);
  }

  /** Goes past a text; true where it is in its canonical form already. By hand: a pattern could run out of stack. */
  #skipString(): boolean {
    this.#word('"');
    let plain = true;
    for (let at = this.#at; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return plain;
      }
      if (code < 0x20) break;
      if (code !== 0x5c) continue;
      plain = false;
      at++;
    }
    throw new Uncanonical();
  }

  #number(): string {
    const text = this.#match(NUMBER);
    if (text === undefined) throw new Uncanonical();
    const number = Number(text);
    if (!Number.isFinite(number)) throw new Uncanonical();
    const written = String(number === 0 ? 0 : number);
    // Two neighbouring ids above 2^53 would become one, and the second event would be lost as a duplicate.
    if (!Number.isSafeInteger(number) && /^-?\d+$/.test(text) && written !== text) throw new Uncanonical();
    return written;
  }

  #word(word: string): string {
    if (!this.#text.startsWith(word, this.#at)) throw new Uncanonical();
    this.#at += word.length;
    return word;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    if (this.#text.charCodeAt(this.#at) <= 0x20) this.#match(SPACE);
  }
}

function parsedText(escaped: string): string {
  try {
    return JSON.parse(escaped) as string;
  } catch {
    throw new Uncanonical();
  }
}

function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : 1;
}
