import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { CommandFailure } from "../terminal/failure.js";

/** Who may read a file besides its owner. */
export interface FileReaders {
  readonly groupMayRead: boolean;
}

/** Whether others than those may read it, or others than its owner write it. */
export function isLoose(path: string, { groupMayRead }: FileReaders = { groupMayRead: false }): boolean {
  // On Windows, the mode does not show the rights.
  return process.platform !== "win32" && (statSync(path).mode & (groupMayRead ? 0o037 : 0o077)) !== 0;
}

/** The text of a file that holds a secret; throws where it cannot be read, or others may. */
export function readKeyFile(path: string, readers: FileReaders): string {
  let loose: boolean;
  try {
    loose = isLoose(path, readers);
    if (!loose) return readFileSync(path, "utf8").trim();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CommandFailure("failed", `${path} cannot be read (${code ?? "unknown"}).`, {
      code: "key_file_unreadable",
      cure: "Let the user that runs Posthorn own the file.",
      cause,
    });
  }
  throw new CommandFailure("failed", `${path} can be read or changed by other users.`, {
    code: "key_file_loose",
    cure: `chmod 600 ${path}, or 640 with the setting group_may_read_keys, where a group has to read it.`,
  });
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
