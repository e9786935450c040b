import { describe, expect, it } from "vitest";
import { idAt, newId, timeOfId } from "./id.js";

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

  it("says when it was made, and no other text does", () => {
    for (const time of [0, 31, Date.UTC(2026, 10, 16, 1, 2, 3, 4)])
      expect(timeOfId(newId("evt", time))).toBe(time);
    for (const other of ["", "evt_1", "in_1PX", `evt_${"u".repeat(26)}`, `evt_${"0".repeat(27)}`])
      expect(timeOfId(other)).toBeUndefined();
  });

  it("lies between the marks of its moment and of the next one", () => {
    const id = newId("evt", 1_000_000);
    expect([idAt("evt", 1_000_001), id, idAt("evt", 1_000_000)].toSorted()).toEqual([
      idAt("evt", 1_000_000),
      id,
      idAt("evt", 1_000_001),
    ]);
  });

  it("is never the same twice", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId("evt", 0))).size).toBe(10_000);
  });
});
