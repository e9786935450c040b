import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { replacePrivateFile, touchPrivateFile } from "./secrets/private-file.js";
import { CommandFailure } from "./terminal/failure.js";

const LOCK_FILE = "lock.db";
const HOLDER_FILE = "holder.json";

/** The SQLite file of a data directory. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "posthorn.db");
}

/** Creates the directory, for its owner alone. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CommandFailure(
      "failed",
      `The data directory ${dataDir} cannot be made (${code ?? "unknown"}).`,
      {
        code: "data_dir_unusable",
        cure: "Name another with --data-dir, or let the user that runs Posthorn write there.",
        cause,
      },
    );
  }
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/**
 * Holds the directory until the returned function is called, or the process ends in any way: the lock is the operating
 * system's, on a file of its own, so that nothing has to be cleaned up after a crash.
 */
export function holdDataDir(dataDir: string): () => void {
  touchPrivateFile(join(dataDir, LOCK_FILE));
  const lock = new Database(join(dataDir, LOCK_FILE), { timeout: 0 });
  try {
    lock.exec("begin exclusive");
  } catch (cause) {
    lock.close();
    if (!String((cause as { code?: unknown }).code).startsWith("SQLITE_BUSY")) throw cause;
    throw held(dataDir, cause);
  }
  const holder: Holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  replacePrivateFile(join(dataDir, HOLDER_FILE), `${JSON.stringify(holder)}\n`);
  return () => {
    if (!lock.open) return;
    rmSync(join(dataDir, HOLDER_FILE), { force: true });
    lock.close();
  };
}

/** The process that holds the directory, as written in the lock file. */
export function holderOf(dataDir: string): string {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(join(dataDir, HOLDER_FILE), "utf8")) as Holder;
    return `process ${pid} on ${host}, since ${since}`;
  } catch {
    // The file is being written, or its writer has just ended.
    return "another process";
  }
}

function held(dataDir: string, cause: unknown): CommandFailure {
  return new CommandFailure("failed", `The data directory ${dataDir} is held by ${holderOf(dataDir)}.`, {
    code: "data_dir_held",
    cure: "Stop that one first, name another directory with --data-dir, or use Postgres for several nodes.",
    cause,
  });
}
