import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const installed = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));

/** Runs a tool of this repository in its root, showing its output as it comes; says whether it succeeded. */
export function runCommand(command: readonly string[], env: Readonly<Record<string, string>> = {}): boolean {
  const [tool = "", ...args] = command;
  // Found here also when the script was not started by npm, which would put it on the PATH.
  const path = `${installed}${delimiter}${process.env["PATH"] ?? ""}`;
  const { status, error } = spawnSync(tool, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: path, ...env },
  });
  if (error) process.stderr.write(`${tool} did not start: ${error.message}\n`);
  return status === 0;
}
