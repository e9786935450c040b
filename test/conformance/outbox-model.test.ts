import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { memoryOutboxHarness } from "./memory-harness.js";
import { checkOutboxModel } from "./outbox-model.js";
import { COVERED, ELSEWHERE, rowsOf } from "./outbox-model/rows.js";

// The same histories each time: a row that only some seeds meet would fail the tests now and then.
const SEED = 7;

function textOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

it("the model knows every row of spec/states.md but those that tests of their own meet", () => {
  const rows = rowsOf(textOf("spec/states.md"));
  expect(rows).toEqual(expect.arrayContaining(Object.keys(ELSEWHERE)));
  expect(Object.keys(COVERED)).toEqual(rows.filter((row) => !(row in ELSEWHERE)));
  for (const { file, test } of Object.values(ELSEWHERE).flat()) {
    const begins = file.includes("/conformance/") ? "name: " : "it(";
    expect(textOf(file)).toContain(`${begins}"${test}"`);
  }
});

it("random histories meet every row of spec/states.md, each by the commands that are named for it", async () => {
  const met = await checkOutboxModel(memoryOutboxHarness, 400, SEED);
  const found = Object.entries(COVERED).map(([row, commands]) => {
    const by = [...(met.get(row as keyof typeof COVERED) ?? [])];
    // A lane is looked at after every command.
    return [row, commands.length === 0 ? by.length > 0 : by.toSorted()];
  });
  const promised = Object.entries(COVERED).map(([row, commands]) => [
    row,
    commands.length === 0 ? true : [...commands].toSorted(),
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(promised));
});
