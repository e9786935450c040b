import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { postgresEnvironment, runPage } from "../doc-snippets/run-page.js";
import { freshDatabase } from "../services.js";

// The programs under "Test your handlers" of docs/receiving.md print what their last comment says.

const page = readFileSync(new URL("../../docs/receiving.md", import.meta.url), "utf8");
const env = postgresEnvironment(await freshDatabase());

it.each([
  ["Postgres", "search_path=${schema}"],
  ["SQLite", "values ('in_7', 0)"],
])("the documented test of a handler on %s prints what it says", async (_database, text) => {
  const promised = /console\.log\(verdict.*\/\/ (.*)/.exec(page.slice(page.indexOf(text)))?.[1];
  expect(promised).toMatch(/^applied/);
  const named = { "test.js": text };
  const main = 'import "./test.js";';
  expect(await runPage({ page: "docs/receiving.md", named, main, env })).toBe(`${promised}\n`);
});
