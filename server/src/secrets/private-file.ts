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

/** Whether others than its owner may read or write it. */
export function isLoose(path: string): boolean {
  // On Windows, the mode does not show the rights.
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

/** Creates an empty file that only its owner may read: SQLite gives its other files the same mode. */
export function touchPrivateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}

/** Writes a file that only its owner may read, atomically. False where a file exists already. */
export function createPrivateFile(path: string, text: string): boolean {
  const draft = writeDraft(path, text);
  try {
    // Unlike a rename, a link never replaces a file that another process has just created.
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

/** The same, replacing a file that exists. */
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

// Syncs the directory: a power failure could lose the file's name, and with it the key that seals everything.
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
