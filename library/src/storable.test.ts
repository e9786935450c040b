import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStorableTime, nameFault, storableName, storableTime } from "./storable.js";

describe("a name", () => {
  it.each(["a", "x".repeat(255), "\u00e9".repeat(127), "\u{1f600}", "two words", "__proto__"])(
    "is %j, which every store and header carries",
    (text) => {
      expect(nameFault(text)).toBeUndefined();
    },
  );

  it.each([
    ["", "must be a text that is not empty"],
    [7, "must be a text that is not empty"],
    [undefined, "must be a text that is not empty"],
    ["a\nb", "holds a control character or half a surrogate pair"],
    ["\ud800", "holds a control character or half a surrogate pair"],
    ["x".repeat(256), "is longer than 255 bytes"],
    ["\u{1f600}".repeat(64), "is longer than 255 bytes"],
  ])("is not %j", (value, fault) => {
    expect(nameFault(value)).toBe(fault);
  });

  it("can be made of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        const made = storableName(text, "unknown");
        expect(nameFault(made)).toBeUndefined();
        if (nameFault(text) === undefined) expect(made).toBe(text);
      }),
    );
    expect(storableName("", "unknown")).toBe("unknown");
    expect(storableName("a\nb", "unknown")).toBe("a\ufffdb");
    expect(storableName("x".repeat(300), "unknown")).toBe("x".repeat(255));
  });
});

describe("a time", () => {
  const [first, last] = [new Date(Date.UTC(1970, 0, 1)), new Date(Date.UTC(9000, 0, 1))];

  it("between 1970 and 9000 is taken by every database as it is", () => {
    for (const time of [first, last, new Date()]) {
      expect(isStorableTime(time)).toBe(true);
      expect(storableTime(time)).toBe(time);
    }
  });

  it("outside of that becomes the nearest one", () => {
    expect(storableTime(new Date(-1))).toEqual(first);
    expect(storableTime(new Date(8.64e15))).toEqual(last);
  });

  it("that is none stays none", () => {
    expect(storableTime(undefined)).toBeUndefined();
    expect(storableTime(new Date(Number.NaN))).toBeUndefined();
    expect(isStorableTime(new Date(Number.NaN))).toBe(false);
  });
});
