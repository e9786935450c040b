import { expect, test } from "vitest";
import type { CaseFigures } from "./figures.js";
import { alignColumns, bar, renderCases, renderOutcome, showRate, showTime } from "./table.js";

const machine = { cpu: "Test CPU", cores: 2, memoryGiB: 8, node: "v20.0.0", platform: "linux x64" };

function figures(name: string, perSecond: number, over: Partial<CaseFigures> = {}): CaseFigures {
  return { name, group: "", kind: "load", rounds: [], perSecond, p50Ms: 1, p99Ms: 2, ...over };
}

test("columns line up, numbers to the right, without blanks at the ends of lines", () => {
  expect(
    alignColumns(
      [
        ["name", "rate", ""],
        ["a", "1,000", "x"],
        ["long name", "9", ""],
      ],
      "lrl",
    ),
  ).toEqual(["name        rate", "a          1,000  x", "long name      9"]);
});

test("a painted cell is as wide as it looks", () => {
  const [first, second] = alignColumns(
    [
      ["\u001b[31mab\u001b[0m", "1"],
      ["abcd", "1"],
    ],
    "lr",
  );
  expect(first).toBe("\u001b[31mab\u001b[0m    1");
  expect(second).toBe("abcd  1");
});

test("the fastest has the whole bar, and half the rate half of it", () => {
  expect(bar(1)).toBe("█".repeat(24));
  expect(bar(0.5)).toBe("█".repeat(12));
  expect(bar(1 / 192)).toBe("▏");
  expect(bar(0)).toBe("");
});

test("bars compare within a group, and groups stand apart", () => {
  const table = renderCases(
    [
      figures("small, fast", 1000, { group: "1 kB" }),
      figures("small, slow", 500, { group: "1 kB" }),
      figures("large", 10, { group: "64 kB" }),
    ],
    { colour: false },
  );
  const lines = table.split("\n");
  expect(lines).toHaveLength(5);
  expect(lines[3]).toBe("");
  expect(lines[1]).toContain("█".repeat(24));
  expect(lines[2]).toMatch(/[^█]█{12}$/);
  expect(lines[4]).toContain("█".repeat(24));
});

test("times are shown in the unit that suits", () => {
  expect([0.000_045_6, 0.004_56, 0.456, 4.56, 45.6, 4560].map(showTime)).toEqual([
    "45.6 ns",
    "4.56 µs",
    "456 µs",
    "4.56 ms",
    "45.6 ms",
    "4.56 s",
  ]);
});

test("rates are grouped by thousands, and small ones keep a decimal", () => {
  expect([1_234_567.8, 123.4, 12.34].map(showRate)).toEqual(["1,234,568", "123", "12.3"]);
});

test("latencies of loops are marked as batch means, those of load are not", () => {
  const outcome = { rounds: 5, ratios: [], limits: [] };
  const loop = renderOutcome(
    "s",
    machine,
    { ...outcome, cases: [figures("a", 1, { kind: "loop" })] },
    { colour: false },
  );
  const load = renderOutcome("s", machine, { ...outcome, cases: [figures("a", 1)] }, { colour: false });
  expect(loop).toContain("1.00 ms *");
  expect(loop).toContain("* p50 and p99 over means of batches");
  expect(load).not.toContain("*");
});

test("ratios show the spread of their rounds, and what became of every goal", () => {
  const outcome = {
    rounds: 5,
    cases: [figures("a", 1)],
    ratios: [
      { name: "a / b", value: 3.5, goal: ">= 3", met: true, low: 3.25, high: 4 },
      { name: "a / c", value: 2, goal: null, met: true, low: 1, high: 3 },
    ],
    limits: [{ name: "size, kB", value: 6, goal: "<= 5", met: false }],
  } as const;
  const plain = renderOutcome("s", machine, outcome, { colour: false });
  expect(plain).toMatch(/^a \/ b +3\.500 +3\.250 to 4\.000 +>= 3 +met$/m);
  expect(plain).toMatch(/^a \/ c +2\.000 +1\.000 to 3\.000 +reported$/m);
  expect(plain).toMatch(/^size, kB +6\.000 +<= 5 +NOT MET$/m);
  expect(plain).not.toContain("\u001b");
  expect(renderOutcome("s", machine, outcome, { colour: true })).toContain("\u001b[31mNOT MET\u001b[0m");
});
