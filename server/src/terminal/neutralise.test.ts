import { describe, expect, it } from "vitest";
import { neutralise, neutraliseLines, safeJson } from "./neutralise.js";

/** Nothing that a terminal would act upon. */
// oxlint-disable-next-line no-control-regex -- these are what must not come through.
const ACTS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

describe("a text from outside", () => {
  it.each([
    ["clears the screen", "\u001b[2J", "\\x1b[2J"],
    ["retitles the window", "\u001b]0;owned\u0007", "\\x1b]0;owned\\x07"],
    ["is an escape of the C1 kind", "\u009b31m", "\\x9b31m"],
    ["writes over its line", "paid\rdead", "paid\\rdead"],
    ["adds a line", "one\ntwo", "one\\ntwo"],
    ["moves columns", "a\tb", "a\\tb"],
    ["deletes", "a\u007f\u0008", "a\\x7f\\x08"],
    ["turns the reading direction", "evt_\u202e1_tve", "evt_\\u202e1_tve"],
    ["isolates a direction", "\u2066a\u2069", "\\u2066a\\u2069"],
    ["hides characters", "a\u200bb\u2060c\ufeff", "a\\u200bb\\u2060c\\ufeff"],
    ["hides letters in tags", "a\u{e0041}", "a\\u{e0041}"],
    ["draws nothing", "\u3164\u115f", "\\u3164\\u115f"],
    ["breaks lines the other way", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["is half a character", "a\ud800b", "a\\ud800b"],
    ["is private", "\ue000", "\\ue000"],
  ])("that %s is shown as an escape", (_, hostile, shown) => {
    expect(neutralise(hostile)).toBe(shown);
  });

  it("of ordinary words in any script is left as it is", () => {
    for (const text of [
      "Zoë Ångström",
      "東京タワー",
      "Ελλάδα",
      "שלום",
      "नमस्ते",
      "👩‍👩‍👧‍👦",
      "👍🏽",
      "❤️",
      "🇩🇪",
      "e\u0301",
    ]) {
      expect(neutralise(text)).toBe(text);
    }
  });

  it("keeps a joiner inside of an emoji and no other", () => {
    expect(neutralise("👩‍🚒")).toBe("👩‍🚒");
    expect(neutralise("a\u200db")).toBe("a\\u200db");
    expect(neutralise("👩\u200db")).toBe("👩\\u200db");
  });

  it("that piles marks over the lines above is flattened", () => {
    const piled = `a${"\u0301".repeat(100)}b`;
    expect(neutralise(piled)).toBe(`a${"\u0301".repeat(4)}${"\\u0301".repeat(96)}b`);
  });

  it("is harmless whatever its bytes were", () => {
    for (let point = 0; point <= 0x2_ffff; point += point < 0x3000 ? 1 : 61) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const character = String.fromCodePoint(point);
      expect(neutralise(`a${character}b`)).not.toMatch(ACTS);
    }
  });

  it("stays the same when it is neutralised twice", () => {
    const once = neutralise("\u001b[31m\u202e\n");
    expect(neutralise(once)).toBe(once);
  });
});

it("a text of many lines keeps its lines and nothing else that acts", () => {
  expect(neutraliseLines("a\r\n\tb\u001b[1m\nc\rd")).toBe("a\n    b\\x1b[1m\nc\\rd");
});

describe("JSON", () => {
  it("says the same and holds nothing that a terminal acts upon", () => {
    const value = { "k\u009b": ["\u001b[2J", "\u007f\u202e", "\u{e0041}", "plain ✓"], n: 1 };
    for (const text of [safeJson(value), safeJson(value, 2)]) {
      expect(text.replaceAll("\n", "")).not.toMatch(ACTS);
      expect(JSON.parse(text)).toEqual(value);
    }
  });

  it("of nothing is null", () => {
    expect(safeJson(undefined)).toBe("null");
  });
});
