import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { cliPage } from "./print-cli.js";

it("docs/cli.md is what the commands print", async () => {
  const page = await cliPage();
  expect(readFileSync(new URL("../docs/cli.md", import.meta.url), "utf8")).toBe(page);
  expect(page).not.toContain("Error: Nobody expected");
});
