import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fakeTerminal } from "../../test/cli/fake-terminal.js";
import { runCli } from "./cli.js";
import { createCommandContext } from "./commands/command-context.js";
import { defaultFile } from "./config/print.js";

const root = mkdtempSync(join(tmpdir(), "posthorn-cli-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const terminal = fakeTerminal();
  const code = await runCli(args, createCommandContext({ terminal, environment }));
  return { code, out: terminal.out(), err: terminal.err() };
}

it("`config` prints the annotated file, and nothing else", async () => {
  expect(await run(["config"])).toEqual({ code: 0, out: defaultFile(), err: "" });
});

it("`config check` tells all problems of a file, and ends with 2", async () => {
  const path = join(root, "bad.yaml");
  writeFileSync(path, "lisen: 1\nslots: x\n");
  const { code, err } = await run(["config", "check", path]);
  expect(code).toBe(2);
  expect(err).toBe(
    [
      "Error: The configuration has 2 problems.",
      `${path}:1: There is no setting "lisen". Did you mean "listen"?`,
      `${path}:2: "slots" is "x"; expected a whole number from 1 to 10000.`,
      "`posthorn config` prints every setting with its default and what it means.",
      "",
    ].join("\n"),
  );
});

it("`config --effective` shows where a value is from, and no secret; a readable file with one is warned of", async () => {
  const path = join(root, "good.yaml");
  writeFileSync(path, "slots: 7\nfirst_token: phk_" + "s".repeat(43), { mode: 0o644 });
  const { code, out, err } = await run(["config", "--effective", "--config", path, "--poll", "1s"], {
    POSTHORN_DEV: "true",
  });
  expect(code).toBe(0);
  expect(out).toContain(`slots: 7  # ${path}:1\n`);
  expect(out).toContain("poll: 1s  # --poll\n");
  expect(out).toContain("dev: true  # POSTHORN_DEV\n");
  expect(out).toContain("migrate: true  # default\n");
  expect(out + err).not.toContain("ssss");
  expect(err).toContain("other users may read the file");
});

it("a switch that is on by default is turned off by its flag", async () => {
  expect((await run(["config", "--effective", "--no-migrate"])).out).toContain(
    "migrate: false  # --no-migrate\n",
  );
});

it("`config new-key` and `config new-token` print what the settings take", async () => {
  const key = (await run(["config", "new-key"])).out.trim();
  const token = (await run(["config", "new-token"])).out.trim();
  const { code } = await run(["config", "--effective"], {
    POSTHORN_MASTER_KEY: key,
    POSTHORN_FIRST_TOKEN: token,
  });
  expect(code).toBe(0);
});

it.each([
  [["serve", "--lisen", "x"], "--listen"],
  [["srve"], "serve"],
  [["serve", "--slots", "many"], "a whole number"],
])("wrong arguments end with 2 and name the right ones: %j", async (args, hint) => {
  const { code, err } = await run(args);
  expect(code).toBe(2);
  expect(err).toContain(hint);
});

it("`migrate` makes the tables and the key, once; `doctor` then finds nothing wrong", async () => {
  const dataDir = join(root, "data");
  const first = await run(["migrate", "--data-dir", dataDir, "--json"]);
  expect(first.code).toBe(0);
  expect((JSON.parse(first.out) as { applied: string[] }).applied).toContain("0001_create_registry");
  expect((await run(["migrate", "--data-dir", dataDir])).out).toBe("The database is up to date.\n");
  const doctor = await run(["doctor", "--data-dir", dataDir, "--json"]);
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; level: string }[] };
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(["disk", "master key", "durability", "clock", "schema", "secrets", "windows"]),
  );
  expect(findings.filter(({ level }) => level === "fail")).toEqual([]);
  expect(doctor.code).toBe(0);
});

it("`doctor` ends with 1 where something fails, with the cure", async () => {
  const dataDir = join(root, "lost");
  await run(["migrate", "--data-dir", dataDir]);
  rmSync(join(dataDir, "master.key"));
  const { code, out, err } = await run(["doctor", "--data-dir", dataDir]);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^fail master key: The database is there, but its master key .*\n {5}Put the file back/m,
  );
  expect(err).toMatch(/Error: 1 of \d checks failed\.\n/);
});

it("the help tells every command and every exit code", async () => {
  const { code, out } = await run(["--help"]);
  expect(code).toBe(0);
  for (const name of ["serve", "migrate", "config", "doctor", "source", "endpoint", "token", "130"]) {
    expect(out).toContain(`  ${name}`);
  }
});

it("a switch that is turned off by its flag is explained as that flag", async () => {
  const terminal = fakeTerminal({ columns: 200 });
  await runCli(["serve", "--help"], createCommandContext({ terminal }));
  expect(terminal.out()).toMatch(/--no-migrate +Does not create or change tables at start/);
});
