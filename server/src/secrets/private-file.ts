import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** Others than its owner may read it, or write it. */
export function isLoose(path: string): boolean {
  // Windows has other rights, of which the mode tells nothing.
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

/** Makes an empty file that only its owner may read, where there is none: databases take over the mode of theirs. */
export function touchPrivateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}

/** Writes a file that only its owner may read; it is there whole or not at all. False where there is one already. */
export function createPrivateFile(path: string, text: string): boolean {
  const draft = writeDraft(path, text);
  try {
    // Unlike a rename, a link never takes the place of what another process has just made.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(path));
  return true;
}

/** The same, in the place of what was there. */
export function replacePrivateFile(path: string, text: string): void {
  renameSync(writeDraft(path, text), path);
  syncFolder(dirname(path));
}

function writeDraft(path: string, text: string): string {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return draft;
}

// A name that is not yet on the disk is lost with the power, and the key under which everything is sealed with it.
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
