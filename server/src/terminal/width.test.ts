import { describe, expect, it } from "vitest";
import { cutToWidth, displayWidth, padToWidth } from "./width.js";

describe("the width of a text", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["Zoë", 3],
    ["Zoe\u0308", 3],
    ["東京", 4],
    ["ｶﾅ", 2],
    ["한국", 4],
    ["각", 2],
    ["👍", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧‍👦", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["1️⃣", 2],
    ["e\u0301\u0302\u0303", 1],
    ["…", 1],
    ["█░", 2],
  ])("%s takes %d columns", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe("a text that is cut", () => {
  it("says so, and fits", () => {
    expect(cutToWidth("invoice.paid", 8)).toBe("invoice…");
    expect(cutToWidth("invoice", 7)).toBe("invoice");
    expect(cutToWidth("invoice", 1)).toBe("…");
    expect(cutToWidth("invoice", 0)).toBe("");
  });

  it("never cuts through a character that takes two columns or many code points", () => {
    expect(cutToWidth("東京都", 4)).toBe("東…");
    expect(cutToWidth("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3)).toBe("👩‍👩‍👧‍👦…");
    expect(cutToWidth("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
    for (let most = 0; most < 12; most++) {
      expect(displayWidth(cutToWidth("a東b京👍🏽cde\u0301f", most))).toBeLessThanOrEqual(most);
    }
  });
});

it("filling up counts columns, not characters", () => {
  expect(padToWidth("東", 4, "left")).toBe("東  ");
  expect(padToWidth("7", 3, "right")).toBe("  7");
  expect(padToWidth("long", 2, "left")).toBe("long");
});
