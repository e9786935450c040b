import { expect, it } from "vitest";
import { checkBudgets, checkMedians, measureSizes } from "./budgets.js";
import { parseSources } from "./source.js";

const parse = (text: string, path = "library/src/a.ts") => parseSources([[path, text]]);
const lines = (count: number): string => "// line\n".repeat(count);

it("a file of 401 lines is reported, one of 400 is not", () => {
  expect(checkBudgets(parse(lines(401)))).toEqual([expect.stringContaining("has 401 lines of 400")]);
  expect(checkBudgets(parse(lines(400)))).toEqual([]);
});

it.each(["function a() {\n", "const a = () => {\n", "list.map(function () {\n"])(
  "a function of 61 lines is reported, one of 60 is not: %s",
  (open) => {
    const close = open.startsWith("list") ? "})" : "}";
    expect(checkBudgets(parse(open + lines(59) + close))).toEqual([
      expect.stringContaining("61 lines of 60"),
    ]);
    expect(checkBudgets(parse(open + lines(58) + close))).toEqual([]);
  },
);

it("a fifth parameter is reported, `this` not counted", () => {
  expect(checkBudgets(parse("\nfunction a(b, c, d, e, f) {}"))).toEqual([
    expect.stringContaining("library/src/a.ts:2: 5 parameters of 4"),
  ]);
  expect(checkBudgets(parse("class A { constructor(b, c, d, ...e) {} f(this: A, b, c, d, e) {} }"))).toEqual(
    [],
  );
});

it("medians over the budget are reported", () => {
  const sizes = measureSizes(
    parse(`function a() {\n${lines(10)}}\nfunction b() {\n${lines(11)}}\n${lines(200)}`),
  );
  expect(sizes).toEqual({ fileMedian: 225, functionMedian: 12.5 });
  expect(checkMedians(sizes)).toHaveLength(2);
  expect(checkMedians({ fileMedian: 120, functionMedian: 10 })).toEqual([]);
});

it("callbacks do not flatter the median, but methods and named arrows count", () => {
  const text = `list.map(() => 1); list.map(() => 1);\nconst a = () => {\n\n};\nclass B {\n  c() {\n\n  }\n}`;
  expect(measureSizes(parse(text)).functionMedian).toBe(3);
});

it.each([
  "library/src/a.test.ts",
  "library/src/stores/sqlite/schema/migrations.ts",
  "library/src/a.generated.ts",
])("tests, migrations and generated files are exempt: %s", (path) => {
  expect(checkBudgets(parse(lines(401), path))).toEqual([]);
  expect(measureSizes(parse(lines(401), path)).fileMedian).toBe(0);
});
