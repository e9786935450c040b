import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../library/src/errors.js";
import { errorsPage } from "../scripts/print-errors.js";

it("docs/errors.md says what the tables of codes say; `npm run docs` prints it", () => {
  const page = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");
  expect(page).toBe(errorsPage(ERROR_CODES));
});
