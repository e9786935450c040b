import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tallyFileVariable } from "./tally.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const fixtures = {
  "sound.test.ts": `
    import { skipFor } from ${JSON.stringify(here("skip-reason.ts"))};
    it("passes", skipFor(undefined), () => {});
    it("has no redis", skipFor("no redis-server"), () => { throw new Error("ran"); });
    it("looks first", (context) => context.skip("no chromium"));
    describe("needs a database", skipFor("no database"), () => {
      beforeAll(() => { throw new Error("ran"); });
      it("asks it", () => {});
    });`,
  "silent.test.ts": `it("passes", () => {}); it.skip("is silent", () => {}); it.todo("is a plan");`,
  "hook.test.ts": `describe("s", () => { beforeAll(() => { throw new Error("no"); }); it("never runs", () => {}); });`,
  "broken.test.ts": `throw new Error("does not load");`,
  "wrong.test.ts": `it("differs", () => { expect([1]).toEqual([2]); });`,
  "stray.test.ts": `it("passes", async () => { void Promise.reject(new Error("stray")); await new Promise(setImmediate); });`,
};

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "posthorn-reporter-"));
  for (const [name, text] of Object.entries(fixtures)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(args: readonly string[], env: Record<string, string> = {}) {
  const vitest = here("../node_modules/vitest/vitest.mjs");
  const options = [
    "run",
    "--globals",
    "--root",
    folder,
    "--reporter=default",
    `--reporter=${here("reporter.ts")}`,
  ];
  const inherited = { ...process.env };
  // Set when this test itself runs under scripts/test.ts: the inner run would overwrite the lane's tally.
  delete inherited[tallyFileVariable];
  return spawnSync(process.execPath, [vitest, ...options, ...args], {
    encoding: "utf8",
    env: { ...inherited, ...env },
  });
}

const lastLine = (text: string): string | undefined => text.trimEnd().split("\n").at(-1);

describe("the reporter", () => {
  it("lists each skip with its reason before the total, which is the last line", () => {
    const { status, stdout } = run(["sound"]);
    expect(stdout.split("\n").slice(-5)).toEqual([
      "skipped: sound.test.ts > has no redis: no redis-server",
      "skipped: sound.test.ts > looks first: no chromium",
      "skipped: sound.test.ts > needs a database > asks it: no database",
      "1 passed, 0 failed, 3 skipped",
      "",
    ]);
    expect(status).toBe(0);
  });

  it("counts as failed whatever kept a test from passing, in a test or outside of one", () => {
    const { status, stdout } = run(["silent", "hook", "broken", "stray", "wrong"]);
    const told = stdout.split("\n").filter((line) => line.startsWith("failed: "));
    expect(told.map((line) => line.split("; ")[0])).toEqual([
      "failed: wrong.test.ts > differs: expected [ 1 ] to deeply equal [ 2 ]",
      "failed: broken.test.ts: does not load",
      "failed: hook.test.ts > s: no",
      "failed: hook.test.ts > s > never runs: did not run, because a hook of its suite failed.",
      "failed: silent.test.ts > is silent: skipped without a reason",
      "failed: silent.test.ts > is a plan: skipped without a reason",
      "failed: outside of any test: stray",
    ]);
    expect(lastLine(stdout)).toBe("2 passed, 7 failed");
    expect(status).not.toBe(0);
  });

  it("does not blame the tests that a name filter leaves out", () => {
    const { status, stdout } = run(["silent", "-t", "passes"]);
    expect(lastLine(stdout)).toBe("1 passed, 0 failed");
    expect(status).toBe(0);
  });

  it("hands the tally over where a file is named for it, and prints no total of its own", () => {
    const file = join(folder, "tally.json");
    const { stdout } = run(["sound"], { [tallyFileVariable]: file });
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      passed: 1,
      failures: [],
      skips: { length: 3 },
    });
    expect(stdout).not.toContain("1 passed, 0 failed");
  });
});
