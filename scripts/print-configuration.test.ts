import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { configurationPage } from "./print-configuration.js";

it("docs/configuration.md says what the table of settings says; `npm run docs` prints it", () => {
  const page = readFileSync(new URL("../docs/configuration.md", import.meta.url), "utf8");
  expect(page).toBe(configurationPage());
});
