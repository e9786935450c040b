import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, decodeBase64, decodeHex, encodeBase64, encodeHex, equalBytes, utf8 } from "./bytes.js";

const bytes = fc.uint8Array({ maxLength: 200 });
// Junk close to the real alphabets finds more than random Unicode does.
const nearBase64 = fc.string({
  unit: fc.constantFrom(...Array.from("ABCabcz0129+/-_==  \n\u00e9\u{1d7d8}")),
  maxLength: 24,
});

describe("base64", () => {
  it("gives back every value that was encoded, padded or not, standard or url-safe", () => {
    fc.assert(
      fc.property(bytes, fc.boolean(), fc.boolean(), (value, padded, urlSafe) => {
        let text = encodeBase64(value);
        if (!padded) text = text.replace(/=+$/, "");
        if (urlSafe) text = text.replaceAll("+", "-").replaceAll("/", "_");
        expect(decodeBase64(text)).toEqual(value);
      }),
    );
  });

  it("is written as Node writes it", () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(encodeBase64(value)).toBe(Buffer.from(value).toString("base64"));
      }),
    );
  });

  it("accepts a text only if encoding its value leads back to that text", () => {
    fc.assert(
      fc.property(nearBase64, (text) => {
        const value = decodeBase64(text);
        if (value === undefined) return;
        const canonical = encodeBase64(value);
        const standard = text.replaceAll("-", "+").replaceAll("_", "/");
        expect([canonical, canonical.replace(/=+$/, "")]).toContain(standard);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["one character", "A"],
    ["five characters", "AAAAA"],
    ["padding alone", "="],
    ["two paddings alone", "=="],
    ["four paddings", "===="],
    ["three paddings", "A==="],
    ["too much padding", "AAA=="],
    ["padding after a full group", "AAAA="],
    ["padding in the middle", "AA==AAAA"],
    ["bits that no byte uses, two", "AB=="],
    ["bits that no byte uses, four", "AAB="],
    ["bits that no byte uses, unpadded", "AB"],
    ["a line break", "AAAA\n"],
    ["a space in front", " AAAA"],
    ["both alphabets", "+A_A"],
    ["a letter beyond ASCII", "AAA\u00c1"],
    ["a letter whose low byte is valid", "AAA\u0141"],
    ["a full-width letter", "\uff21AAA"],
  ])("refuses %s", (_, text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it("reads the empty text as no bytes", () => {
    expect(decodeBase64("")).toEqual(new Uint8Array());
  });
});

describe("hexadecimal", () => {
  it("gives back every value that was encoded, in either case", () => {
    fc.assert(
      fc.property(bytes, fc.boolean(), (value, upper) => {
        const text = encodeHex(value);
        expect(text).toBe(Buffer.from(value).toString("hex"));
        expect(decodeHex(upper ? text.toUpperCase() : text)).toEqual(value);
      }),
    );
  });

  it("accepts a text only if encoding its value leads back to that text", () => {
    const nearHex = fc.string({
      unit: fc.constantFrom(...Array.from("09afAFgG@`\u0130\u0661xX ")),
      maxLength: 12,
    });
    fc.assert(
      fc.property(nearHex, (text) => {
        const value = decodeHex(text);
        if (value !== undefined) expect(encodeHex(value)).toBe(text.toLowerCase());
      }),
      { numRuns: 2000 },
    );
  });

  it.each(["0", "0g", "g0", "0x", " 0", "0\n", "\u0130\u0130", "::", "//", "@A", "`a"])(
    "refuses %j",
    (text) => {
      expect(decodeHex(text)).toBeUndefined();
    },
  );
});

describe("equality of bytes", () => {
  it("is that of every byte and of the length", () => {
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        expect(equalBytes(left, left.slice())).toBe(true);
        expect(equalBytes(left, right)).toBe(Buffer.compare(left, right) === 0);
      }),
    );
  });

  it("does not take a prefix for the whole, in either direction, not even one of zeros", () => {
    expect(equalBytes(new Uint8Array(0), new Uint8Array(1))).toBe(false);
    expect(equalBytes(new Uint8Array(1), new Uint8Array(0))).toBe(false);
    expect(equalBytes(Uint8Array.of(1, 0), Uint8Array.of(1))).toBe(false);
    expect(equalBytes(Uint8Array.of(1), Uint8Array.of(1, 0))).toBe(false);
  });

  it("sees one changed bit anywhere", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), (value, where) => {
        const changed = value.slice();
        const index = where % value.length;
        changed[index] = (changed[index] ?? 0) ^ (1 << (where % 8));
        expect(equalBytes(value, changed)).toBe(false);
      }),
    );
  });
});

describe("joining", () => {
  it("keeps text as UTF-8 and bytes as they are, in order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: fc.constantFrom(...Array.from("aé\u{1f4ef}\0")) }), bytes), {
          maxLength: 6,
        }),
        (parts) => {
          expect(Buffer.from(concat(parts))).toEqual(Buffer.concat(parts.map((part) => Buffer.from(part))));
        },
      ),
    );
    expect(utf8("é")).toEqual(Uint8Array.of(0xc3, 0xa9));
  });

  it("copies, so that a later change of a part changes nothing", () => {
    const part = Uint8Array.of(1, 2);
    const joined = concat([part]);
    part[0] = 9;
    expect(joined).toEqual(Uint8Array.of(1, 2));
  });
});
