import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import { linkCommand, root } from "./checkout.js";
import { installLibrary } from "./install.js";
import { runProgram } from "./run-program.js";

function versionOf(workspace: string): string {
  const text = readFileSync(join(root, workspace, "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

it("`npx posthorn` is the server's command where both packages are installed", async () => {
  const { code, out } = await runProgram("npx", ["posthorn", "--version"], { cwd: inject("installed") });
  expect({ code, out }).toEqual({ code: 0, out: `${versionOf("server")}\n` });
});

it("the library's own command hands over to the server's", async () => {
  const cwd = inject("installed");
  const own = join(cwd, "node_modules/posthorn/bin/posthorn.mjs");
  const { code, out } = await runProgram(process.execPath, [own, "config", "new-token"], { cwd });
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^phk_[\w-]{43}\n$/) as string });
});

it("the library's own command prints the install line where there is no server", async () => {
  const project = mkdtempSync(join(tmpdir(), "posthorn-alone-"));
  onTestFinished(() => rmSync(project, { recursive: true }));
  await installLibrary(project, inject("tarballs").library);
  linkCommand(join(project, "node_modules"), "posthorn/bin/posthorn.mjs");
  const { code, out, err } = await runProgram("npx", ["posthorn", "serve"], { cwd: project });
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(`npm install posthorn-server@${versionOf("library")}`);
});
