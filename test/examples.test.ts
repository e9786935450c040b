import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
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

it.each(["sendgrid-batch", "order-service", "saga", "serverless-drain", "serverless-worker"])(
  "the example %s prints what its output.txt says",
  async (name) => {
    const folder = fileURLToPath(new URL(`examples/${name}/`, root));
    const { stdout } = await promisify(execFile)(process.execPath, [`${folder}main.mjs`], {
      timeout: 20_000,
    });
    expect(stdout).toBe(readFileSync(`${folder}output.txt`, "utf8"));
  },
);

it("every example stands in examples/README.md, and has an output to compare with", () => {
  const folder = fileURLToPath(new URL("examples/", root));
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    // What the programs in Python write is compared by the tests of spec/outbox.md.
    entry.isDirectory() && entry.name !== "outbox-python" ? [entry.name] : [],
  );
  const page = readFileSync(`${folder}README.md`, "utf8");
  expect(names.filter((name) => !page.includes(`(${name}/main.mjs)`))).toEqual([]);
  expect(page).toContain("(outbox-python/postgres.py)");
  const silent = names.filter((name) => name !== "first-event" && !existsSync(`${folder}${name}/output.txt`));
  expect(silent).toEqual([]);
});

it("the first example prints what the README shows", async () => {
  const program = fileURLToPath(new URL("examples/first-event/main.mjs", root));
  const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 20_000 });
  expect(stdout).toBe(blockAfter("prints the verdict"));
});
