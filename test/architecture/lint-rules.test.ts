import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { repositoryRoot } from "./project-files.js";

// Type-aware rules fall silent, without an error, when oxlint-tsgolint is missing or the config loses its option.
const mistakes = {
  "no-floating-promises": "export function a(send: () => Promise<void>): void {\n  send();\n}\n",
  "no-misused-promises":
    "export function a(send: () => Promise<boolean>): number {\n  return send() ? 1 : 2;\n}\n",
  "switch-exhaustiveness-check":
    'export function a(state: "due" | "dead"): void {\n  switch (state) {\n    case "due":\n      break;\n  }\n}\n',
  "no-console": 'console.log("x");\nexport {};\n',
};

const folder = mkdtempSync(join(tmpdir(), "posthorn-lint-"));
afterAll(() => rmSync(folder, { recursive: true }));

function lint(): string {
  const compilerOptions = { strict: true, lib: ["es2023", "dom"], types: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  for (const [rule, text] of Object.entries(mistakes)) writeFileSync(join(folder, `${rule}.ts`), text);
  const config = join(repositoryRoot, ".oxlintrc.json");
  const args = [
    join(repositoryRoot, "node_modules/oxlint/bin/oxlint"),
    "-c",
    config,
    "--format",
    "unix",
    ".",
  ];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" }).stdout;
}

it("linting catches floating and misused promises, and switches that forget a case", () => {
  const reported = lint().split("\n");
  const caught = Object.keys(mistakes).filter((rule) =>
    reported.some((line) => line.startsWith(`${rule}.ts:`) && line.includes(`(${rule})`)),
  );
  expect(caught).toEqual(Object.keys(mistakes));
});
