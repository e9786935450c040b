import { closeSync, fdatasync, openSync } from "node:fs";
import type { SqliteClient, SqliteDatabase } from "./client.js";

/** Writes a file's bytes to the disk, by another thread. */
export type SyncFile = (file: number, done: (error: Error | null) => void) => void;

const NORMAL = 1;
const FULL = 2;

// A handle is closed without a word to us.
const files = new FinalizationRegistry<number>(closeSync);

/**
 * Takes the wait for the disk off the event loop: a group commits without it, and its callers are answered when another
 * thread has written SQLite's log to the disk. Only where no other process uses the file: it would see what a power loss can
 * still take back, and answer for it.
 */
export class LogSync {
  readonly #client: SqliteClient;
  readonly #sync: SyncFile;
  #file: number | undefined;
  #owed = false;
  #doubted = false;

  constructor(client: SqliteClient, sync: SyncFile = fdatasync) {
    this.#client = client;
    this.#sync = sync;
  }

  /** Whether the last group has written something that is not known to be on the disk. */
  get isOwed(): boolean {
    return this.#owed;
  }

  /**
   * Puts right what a failed sync has left; false while that cannot be done, because somebody reads. A system that failed to
   * write pages may forget that they are not written, and say at the next sync that all is well, while later pages of the
   * log are worth nothing without them. So the log is copied into the database, which is synced by itself, and begun anew.
   * Until then, nothing may be written.
   */
  recover(): boolean {
    if (!this.#doubted) return true;
    const { busy } = this.#client.get("pragma wal_checkpoint(truncate)") as { readonly busy: number };
    this.#doubted = busy !== 0;
    return !this.#doubted;
  }

  /** Runs a group, whose commit waits for the disk only where there is no log that could be synced after it. */
  runGroup<T>(run: () => T): T {
    this.#file ??= this.#openLog();
    if (this.#file === undefined) return run();
    const client = this.#client;
    const before = changesOf(client);
    client.exec(`pragma synchronous = ${NORMAL}`);
    try {
      return run();
    } finally {
      this.#waitAgain();
      this.#owed ||= changesOf(client) !== before;
    }
  }

  /** Ends when all that is committed is on the disk. */
  sync(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#sync(file, (error) => {
        this.#owed = false;
        this.#doubted ||= error !== null;
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  // For whoever else commits on this handle. Of a log, `extra` would be no more.
  #waitAgain(): void {
    try {
      this.#client.exec(`pragma synchronous = ${FULL}`);
    } catch {
      // Refused inside of a transaction that could not be ended; what comes before the next group sets it.
    }
  }

  #openLog(): number | undefined {
    const log = logOf(this.#client);
    if (log === undefined) return undefined;
    try {
      const file = openSync(log, "r+");
      files.register(this.#client.db satisfies SqliteDatabase, file);
      return file;
    } catch {
      // Not made yet, or not to be had: commits wait by themselves.
      return undefined;
    }
  }
}

/** The path of the log; undefined for a database in memory, or with another journal. */
function logOf(client: SqliteClient): string | undefined {
  const { file } = client.get("select file from pragma_database_list where name = 'main'") as {
    readonly file: string | null;
  };
  return file && client.pragma("journal_mode") === "wal" ? `${file}-wal` : undefined;
}

function changesOf(client: SqliteClient): number {
  return (client.get("select total_changes() as changes") as { readonly changes: number }).changes;
}
