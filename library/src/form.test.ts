import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formField, parseForm } from "./form.js";
import { utf8 } from "./bytes.js";

describe("a form", () => {
  it("keeps its fields in the order in which they were sent, repeated names included", () => {
    expect(parseForm(utf8("b=1&a=2&b=3"))).toEqual([
      ["b", "1"],
      ["a", "2"],
      ["b", "3"],
    ]);
  });

  it("reads plus and %20 as a space, and %2B as a plus", () => {
    expect(parseForm(utf8("a=1+2%203%2B4&b+c=d"))).toEqual([
      ["a", "1 2 3+4"],
      ["b c", "d"],
    ]);
  });

  it("splits a field at its first equals sign, and takes a name alone for an empty value", () => {
    expect(parseForm(utf8("a=b=c&d&=e&&"))).toEqual([
      ["a", "b=c"],
      ["d", ""],
      ["", "e"],
    ]);
  });

  it("is empty when the body is", () => {
    expect(parseForm(new Uint8Array())).toEqual([]);
  });

  it("reads back what URLSearchParams writes", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), (pairs) => {
        expect(parseForm(utf8(new URLSearchParams(pairs).toString()))).toEqual(pairs);
      }),
    );
  });

  it.each([
    ["half an escape", utf8("a=%4")],
    ["an escape that is not hexadecimal", utf8("a=%zz")],
    ["escaped bytes that are no UTF-8", utf8("a=%ff")],
    ["raw bytes that are no UTF-8", Uint8Array.of(0x61, 0x3d, 0xff)],
  ])("is refused with %s, which readers would replace or leave as they like", (_, body) => {
    expect(parseForm(body)).toBeUndefined();
  });

  it("gives the first field of a name", () => {
    const form = parseForm(utf8("a=1&a=2"));
    expect(formField(form, "a")).toBe("1");
    expect(formField(form, "b")).toBeUndefined();
    expect(formField(undefined, "a")).toBeUndefined();
  });
});
