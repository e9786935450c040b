import { describe, expect, it } from "vitest";
import { newId } from "./id.js";

describe("a new id", () => {
  it("has its prefix, and letters that every header and URL carries", () => {
    expect(newId("evt", Date.UTC(2026, 10, 16))).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it("comes after those of earlier moments", () => {
    const times = [0, 1, 31, 32, 1_000_000, Date.UTC(2026, 0, 1), Date.UTC(9999, 0, 1)];
    const ids = times.map((time) => newId("evt", time));
    expect(ids.toSorted()).toEqual(ids);
  });

  it("is of the moment for which it was asked, whatever was asked before", () => {
    const times = [5, 5, 7.9, 5].map((time) => newId("evt", time).slice(4, 14));
    expect(times).toEqual(["0000000005", "0000000005", "0000000007", "0000000005"]);
  });

  it("is never the same twice", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId("evt", 0))).size).toBe(10_000);
  });
});
