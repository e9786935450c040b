import { expect, it } from "vitest";
import { checkCycles } from "./cycles.js";
import { parseSources } from "./source.js";

function judge(sources: Record<string, string>): string[] {
  const files = Object.entries(sources).map(([name, text]) => [`library/src/${name}`, text] as const);
  return checkCycles(parseSources(files), new Map([["#crypto", ["library/src/b.ts"]]]));
}

it("a circle is reported once, with the way around it and the line that closes it", () => {
  const circles = judge({
    "a.ts": 'import { b } from "./b.js";',
    "b.ts": 'import { c } from "./c.js";',
    "c.ts": '\nimport { a } from "./a.js";',
  });
  expect(circles).toEqual([
    expect.stringContaining(
      "library/src/c.ts:2: closes the circle library/src/a.ts → library/src/b.ts → library/src/c.ts → library/src/a.ts",
    ),
  ]);
});

it.each([
  ["of types", { "a.ts": 'import type { B } from "./b.js";', "b.ts": 'import type { A } from "./a.js";' }],
  ["of re-exports", { "a.ts": 'export * from "./b.js";', "b.ts": 'export * from "./a.js";' }],
  ["through an alias", { "a.ts": 'import { b } from "#crypto";', "b.ts": 'import { a } from "./a.js";' }],
  ["of one file", { "a.ts": 'import { a } from "./a.js";' }],
])("a circle %s is reported", (_kind, sources) => {
  expect(judge(sources)).toHaveLength(1);
});

it("two ways to the same file are no circle", () => {
  const diamond = {
    "a.ts": 'import { b } from "./b.js"; import { c } from "./c.js";',
    "b.ts": 'import { d } from "./d.js";',
    "c.ts": 'import { d } from "./d.js";',
    "d.ts": "export const d = 1;",
  };
  expect(judge(diamond)).toEqual([]);
});
