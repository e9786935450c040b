import { describe, expect, it } from "vitest";
import type { AppliedRow } from "./stored-database.js";
import { judgeRows } from "./stored-verdict.js";

// A judge that has never found anything may be blind.
const versions = [2, 1, 4];
const stream = [versions.map((version, place) => ({ key: "k", place, version }))];
const rowOf = (consumer: string, place: number): AppliedRow => ({
  consumer,
  key: "k",
  place,
  version: versions[place] ?? 0,
});
const right = [0, 1, 2].flatMap((place) => [rowOf("single", place), rowOf("many", place)]);
const newest = ["single", "many"].map((consumer) => ({ consumer, key: "k", version: 4 }));
const kept = { lost: 0, doubled: 0, outOfOrder: 0, otherState: 0, unknown: 0 };

describe("the verdict on a stream that was stored first", () => {
  it("finds nothing where each consumer has applied each event once, in order", () => {
    expect(judgeRows(stream, right, newest)).toEqual(kept);
  });

  it("finds what one consumer has not applied", () => {
    expect(judgeRows(stream, right.slice(0, -1), newest)).toEqual({ ...kept, lost: 1 });
  });

  it("finds what was applied twice", () => {
    expect(judgeRows(stream, [...right, rowOf("many", 2)], newest)).toEqual({ ...kept, doubled: 1 });
  });

  it("finds what was applied behind one that was stored later", () => {
    const [first, second, ...others] = right.filter(({ consumer }) => consumer === "single");
    const swapped = [second, first, ...others].filter((row) => row !== undefined);
    const many = right.filter(({ consumer }) => consumer === "many");
    expect(judgeRows(stream, [...swapped, ...many], newest)).toEqual({ ...kept, outOfOrder: 1 });
  });

  it("finds a state that is not that of the ordered stream, and what nobody has sent", () => {
    const older = newest.map((row) => ({ ...row, version: 2 }));
    expect(judgeRows(stream, right, older)).toEqual({ ...kept, otherState: 2 });
    expect(judgeRows(stream, [...right, { ...rowOf("many", 0), key: "x" }], newest)).toEqual({
      ...kept,
      unknown: 1,
    });
  });
});
