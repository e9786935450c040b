import { expect, it } from "vitest";
import { checkLintDirectives } from "./lint-directives.js";
import { parseSources } from "./source.js";

const judge = (text: string): string[] => checkLintDirectives(parseSources([["test/a.ts", text]]));
const disable = "oxlint-disable";

it.each([
  `// ${disable}-next-line no-console`,
  `// ${disable}-next-line`,
  `// ${disable}-next-line -- because`,
  `// ${disable}-next-line no-console --`,
  `// ${disable}-line no-console no reason`,
  `/* ${disable} no-console */`,
  `// ${disable.replace("oxlint", "eslint")}-next-line no-console`,
])("a rule switched off without a reason is reported: %s", (text) => {
  expect(judge(`\n${text}\n`)).toEqual([expect.stringContaining("test/a.ts:2: switches a lint rule off")]);
});

it.each([
  `// ${disable}-next-line typescript/no-explicit-any -- the driver types it so`,
  `/* ${disable} no-console, no-empty -- prints its result */`,
  `// ${disable.replace("disable", "enable")} no-console`,
  "// plain words",
])("a reason passes: %s", (text) => {
  expect(judge(text)).toEqual([]);
});
