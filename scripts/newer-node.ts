import { join } from "node:path";
import { root, runCommand } from "./run-command.js";

// Some hosts need a newer Node than the tests: their folders have one from npm in their own lock.

/** Installs the packages of folders that CI leaves out; says whether all succeeded. */
export function installOnRequest(folders: readonly string[]): boolean {
  return folders.every((folder) =>
    runCommand(["npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]),
  );
}

/** Runs tests on the Node that a folder has installed; says whether they passed. */
export function testOnNodeOf(folder: string, args: readonly string[]): boolean {
  const node = join(root, folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  return runCommand([node, join(root, "node_modules/vitest/vitest.mjs"), "run", ...args]);
}
