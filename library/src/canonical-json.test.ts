import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, canonicalRule } from "./canonical-json.js";
import type { CanonicalRule } from "./canonical-json.js";
import { parseJsonPointer } from "./json-pointer.js";
import type { JsonPointer } from "./json-pointer.js";

const canonical = (text: string, rule?: CanonicalRule): string | undefined =>
  canonicalJson(new TextEncoder().encode(text), rule);

const pointers = (texts: readonly string[]): JsonPointer[] =>
  texts.map((text) => parseJsonPointer(text) ?? expect.unreachable(text));

const rule = ({ include = [], exclude = [] }: { include?: string[]; exclude?: string[] }): CanonicalRule =>
  canonicalRule(pointers(include), pointers(exclude));

describe("the canonical form of RFC 8785", () => {
  it("is that of the RFC's example in section 3.2", () => {
    const given = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
    expect(canonical(given)).toBe(expected);
  });

  it("sorts names by UTF-16 code units, as in the RFC's section 3.2.3", () => {
    const given = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`;
    const names = Object.keys(JSON.parse(canonical(given) ?? "") as object);
    const order = [...(canonical(given) ?? "").matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
    expect(names).toHaveLength(7);
    expect(order).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the double %s of the RFC's appendix B as %s", (bits, expected) => {
    const value = new DataView(Uint8Array.from(Buffer.from(bits, "hex")).buffer).getFloat64(0);
    expect(canonical(expected)).toBe(expected);
    expect(canonical(value.toPrecision(17).replace(/^-0\.0+$/, "-0.0"))).toSatisfy(
      // In full length, an integer above 2^53 reads as one that a double cannot hold.
      (found: string | undefined) => found === expected || (found === undefined && Math.abs(value) > 2 ** 53),
    );
  });

  it("is the same for what JSON.parse reads and JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const form = canonical(text);
        if (form === undefined) return;
        expect(canonical(JSON.stringify(JSON.parse(text)))).toBe(form);
        expect(canonical(JSON.stringify(JSON.parse(text), undefined, 3))).toBe(form);
        expect(canonical(form)).toBe(form);
        expect(JSON.parse(form)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
      }),
    );
  });

  it("does not depend on the order of names", () => {
    const members = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(members, fc.infiniteStream(fc.nat()), (object, chance) => {
        const shuffled = Object.entries(object)
          .map((entry) => ({ entry, place: chance.next().value ?? 0 }))
          .toSorted((left, right) => left.place - right.place)
          .map(({ entry: [name, value] }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
        expect(canonical(`{${shuffled.join(",")}}`)).toBe(canonical(JSON.stringify(object)));
      }),
    );
  });

  it("differs for values that differ", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const forms = [left, right].map((value) => canonical(JSON.stringify(value)));
        if (forms[0] === undefined || forms[0] !== forms[1]) return;
        expect(JSON.parse(JSON.stringify(left))).toEqual(JSON.parse(JSON.stringify(right)));
      }),
    );
  });
});

describe("a text that could be taken for another has no canonical form", () => {
  it.each([
    ["a name twice", '{"a":1,"a":2}'],
    ["a name twice in two writings", String.raw`{"a":1,"\u0061":2}`],
    ["half of a surrogate pair", String.raw`"\ud800"`],
    ["half of a surrogate pair as a name", String.raw`{"\udc00":1}`],
    ["an integer that a double would round", "9007199254740993"],
    ["a number that no double holds", "1e400"],
    ["a byte order mark", "\ufeff{}"],
    ["a comma at the end of an object", '{"a":1,}'],
    ["a comma at the end of an array", "[1,]"],
    ["no comma", "[1 2]"],
    ["more behind it", "{} {}"],
    ["nothing", ""],
    ["space alone", " \n"],
    ["a control character in a text", '"a\nb"'],
    ["an unknown escape", String.raw`"\x"`],
    ["an open text", '"a'],
    ["an open text with an escape", '"a\\'],
    ["an open object", '{"a":1'],
    ["a leading zero", "01"],
    ["a number without digits", "-"],
    ["another word", "undefined"],
    ["a form", "a=1&b=2"],
    ["space that JSON does not know", "\u00a01"],
  ])("%s", (_what, text) => {
    expect(canonical(text)).toBeUndefined();
  });

  it("bytes that are no UTF-8", () => {
    expect(canonicalJson(Uint8Array.of(0x22, 0xff, 0x22))).toBeUndefined();
    expect(canonicalJson(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toBeUndefined();
  });

  it("a value that is nested a hundred thousand times", () => {
    expect(canonical("[".repeat(100_000) + "]".repeat(100_000))).toBeUndefined();
    expect(canonical("[".repeat(100) + "]".repeat(100))).toBe("[".repeat(100) + "]".repeat(100));
  });

  it("whatever JSON.parse refuses", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('{}[]",:0123456789.eE+-\\ntrufalsx \t\n')) }),
        (text) => {
          const parses = ((): boolean => {
            try {
              JSON.parse(text);
              return true;
            } catch {
              return false;
            }
          })();
          if (!parses) expect(canonical(text)).toBeUndefined();
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe("of a body in parts", () => {
  const body = '{"id":7,"sent_at":"now","data":{"items":[{"n":1,"at":2},{"n":3,"at":4}],"a/b":true}}';

  it("only what is included counts", () => {
    expect(canonical(body, rule({ include: ["/id", "/data/items/1/n"] }))).toBe(
      '{"data":{"items":[{"n":3}]},"id":7}',
    );
    expect(canonical(body, rule({ include: ["/data", "/data/items"] }))).toBe(
      '{"data":{"a/b":true,"items":[{"at":2,"n":1},{"at":4,"n":3}]}}',
    );
  });

  it("what is excluded does not count", () => {
    expect(canonical(body, rule({ exclude: ["/sent_at", "/data/items/0", "/data/a~1b", "/missing"] }))).toBe(
      '{"data":{"items":[{"at":4,"n":3}]},"id":7}',
    );
    expect(canonical(body, rule({ include: ["/data"], exclude: ["/data/items"] }))).toBe(
      '{"data":{"a/b":true}}',
    );
  });

  it("an event whose included place is missing is not taken for the others of which it is missing too", () => {
    expect(canonical('{"type":"a"}', rule({ include: ["/type", "/id"] }))).toBeUndefined();
    expect(canonical('{"id":5}', rule({ include: ["/id/deeper"] }))).toBeUndefined();
    expect(canonical("[1,2]", rule({ include: ["/2"] }))).toBeUndefined();
  });

  it("events of which nothing is left are not taken for one", () => {
    expect(canonical('{"at":1}', rule({ exclude: ["/at"] }))).toBeUndefined();
    expect(canonical("{}")).toBe("{}");
  });

  it("what does not count must be JSON all the same", () => {
    expect(canonical('{"id":1,"x":{"a":1,"a":2}}', rule({ include: ["/id"] }))).toBeUndefined();
  });

  it("a name that every object inherits is no place of its own", () => {
    expect(canonical('{"id":1}', rule({ include: ["/constructor"] }))).toBeUndefined();
    expect(canonical('{"__proto__":1,"id":2}', rule({ exclude: ["/id"] }))).toBe('{"__proto__":1}');
  });
});
