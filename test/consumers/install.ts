import { statSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "./child.js";
import { laneFolder, root } from "./places.js";

// 900 MB through a slow line; beyond this something hangs.
const INSTALL_TIMEOUT_MS = 15 * 60_000;

/** Brings the runtimes and compilers of the lane's own lock, unless they are there already. */
export async function installRuntimes(): Promise<void> {
  if (!isStale()) return;
  process.stdout.write("Installing the runtimes of test/consumers/package-lock.json…\n");
  // No package here has an install script; the flag keeps it so.
  await mustRun("npm", ["ci", "--prefix", laneFolder, "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: root,
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
}

/** True when the packages are missing or older than the lock. npm writes its own lock last. */
function isStale(): boolean {
  return changedAt("node_modules/.package-lock.json") < changedAt("package-lock.json");
}

function changedAt(path: string): number {
  return statSync(join(laneFolder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
