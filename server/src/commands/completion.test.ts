import { readFileSync } from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { fakeTerminal } from "../../../test/cli/fake-terminal.js";
import { createProgram, runCli } from "../cli.js";
import { createCommandContext } from "./command-context.js";
import { completionsOf } from "./completion.js";

async function script(shell: string): Promise<string> {
  const terminal = fakeTerminal({});
  expect(await runCli(["completion", shell], createCommandContext({ terminal, environment: {} }))).toBe(0);
  return terminal.out();
}

it("every command and every flag is completed", () => {
  const program = createProgram(createCommandContext({ environment: {} }));
  const found = completionsOf(program);
  expect(found.get("")).toEqual(expect.arrayContaining(["serve", "retry", "rejected", "completion"]));
  expect(found.get("rejected")).toEqual(expect.arrayContaining(["list", "show", "retry"]));
  expect(found.get("rejected retry")).toContain("--source");
});

it("bash completes commands, commands of groups and flags", async () => {
  const text = await script("bash");
  const complete = (...words: string[]): string[] =>
    execFileSync("bash", [
      "-c",
      `${text}\nCOMP_WORDS=(posthorn "$@"); COMP_CWORD=$#; _posthorn; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "-",
      ...words,
    ])
      .toString()
      .trim()
      .split("\n");
  expect(complete("ret")).toEqual(["retry"]);
  expect(complete("rejected", "re")).toEqual(["retry"]);
  expect(complete("--debug", "rejected", "retry", "--so")).toEqual(["--source"]);
});

it.each(["zsh", "fish"])(
  "the script for %s is one that the shell can read, where it is installed",
  async (shell) => {
    const text = await script(shell);
    expect(text).toContain("retry");
    const checked = spawnSync(shell, ["-n"], { input: text });
    if (checked.error === undefined) expect([checked.status, checked.stderr.toString()]).toEqual([0, ""]);
  },
);

it.each(["migrate", "doctor", "restored"])(
  "%s --help shows its own flags first, and settings with their defaults",
  async (command) => {
    const terminal = fakeTerminal({});
    await runCli([command, "--help"], createCommandContext({ terminal, environment: {} }));
    const help = terminal.out();
    expect(help.indexOf("--json")).toBeLessThan(help.indexOf("Settings:"));
    expect(help.indexOf("Settings:")).toBeLessThan(help.indexOf("--data-dir"));
    expect(help.replaceAll(/\s+/g, " ")).toContain("(default: ./posthorn-data)");
    // Of the fifty settings, those that matter to the command: whoever restores a backup looks for the database's.
    expect(help.includes("--listen")).toBe(command === "doctor");
  },
);

it.each(["deploying.md", "runbook.md", "server.md"])(
  "docs/%s names commands and flags that there are",
  (name) => {
    const page = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8").replaceAll(
      "\\\n",
      " ",
    );
    const found = completionsOf(createProgram(createCommandContext({ environment: {} })));
    const lines = [...page.matchAll(/(?:^|`|\$ |npx )posthorn ([a-z][^`\n]*)/gm)].map(
      ([, line = ""]) => line,
    );
    expect(lines.length).toBeGreaterThan(3);
    const wrong = lines.filter((line) => {
      const words = line.split(/\s+/);
      let path = "";
      for (const word of words) if (found.has(`${path} ${word}`.trim())) path = `${path} ${word}`.trim();
      const known = new Set(found.get(path));
      // Groups stand for their lists.
      for (const flag of found.get(`${path} list`) ?? []) known.add(flag);
      const flags = words
        .filter((word) => /^--[a-z]/.test(word))
        .map((word) => word.replace(/[^a-z-].*$/, ""));
      return (
        path === "" || flags.some((flag) => !known.has(flag) && !known.has(flag.replace(/^--/, "--no-")))
      );
    });
    expect(wrong).toEqual([]);
  },
);
