import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = new URL("../", import.meta.url);

/** The first block of code in the README after a line that holds these words. */
function blockAfter(words: string): string {
  const readme = readFileSync(new URL("README.md", root), "utf8");
  const [, block = ""] = /```\n(.*?)```/s.exec(readme.slice(readme.indexOf(words))) ?? [];
  return block;
}

it("the first example prints what the README shows", async () => {
  const program = fileURLToPath(new URL("examples/first-event/main.mjs", root));
  const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 20_000 });
  expect(stdout).toBe(blockAfter("prints the verdict"));
});
