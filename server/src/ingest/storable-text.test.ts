import * as fc from "fast-check";
import { expect, it } from "vitest";
import { newId } from "./new-id.js";
import { isStorable, storableText } from "./storable-text.js";

it("any text becomes one that every store takes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
      const made = storableText(text, "unknown");
      expect(isStorable(made)).toBe(true);
      if (isStorable(text)) expect(made).toBe(text);
    }),
  );
  expect(storableText("", "unknown")).toBe("unknown");
  expect(storableText("a\nb", "unknown")).toBe("a\ufffdb");
  expect(isStorable("\u{1f600}".repeat(64))).toBe(false);
});

it("ids are different, and in the order of their times", () => {
  const ids = Array.from({ length: 2000 }, (_, index) =>
    newId("evt", 1_790_000_000_000 + Math.floor(index / 500)),
  );
  expect(new Set(ids).size).toBe(2000);
  expect(ids[0]).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
  const times = ids.map((id) => id.slice(4, 14));
  expect(times).toEqual(times.toSorted());
});
