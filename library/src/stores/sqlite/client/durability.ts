import type { StoreErrorCode } from "../../../store-errors.js";
import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { SqliteClient } from "./client.js";
import { refusalOf, storeError } from "./failure.js";

/**
 * What may be done to the host's handle so that an acknowledged event survives a power loss.
 * - `set`: switch to WAL and `synchronous = full`, keep it so, and report what could not be had.
 * - `strict`: the same, and refuse to start without it.
 * - `as_is`: change nothing, and report what is missing.
 */
export type Durability = "set" | "strict" | "as_is";

/** A setting that takes back a promise. */
export interface LostPromise {
  readonly setting: string;
  readonly value: string;
  readonly expected: string;
}

/** The settings that decide. */
export interface Settings {
  /** False for `:memory:` and temporary databases. */
  readonly file: boolean;
  readonly journalMode: string;
  readonly synchronous: number;
}

const FULL = 2;
const EXTRA = 3;
const START_WAIT_MS = 5000;
const START_TRIES = 10;
const LEVELS = ["off", "normal", "full", "extra"];

/** Says which settings let an acknowledged event vanish when the power fails. */
export function lostPromises({ file, journalMode, synchronous }: Settings): LostPromise[] {
  if (!file) return [{ setting: "database", value: "in memory", expected: "a file" }];
  if (journalMode === "off" || journalMode === "memory") {
    return [{ setting: "journal_mode", value: journalMode, expected: "wal" }];
  }
  const needed = neededLevel(journalMode);
  if (synchronous >= needed) return [];
  const value = LEVELS[synchronous] ?? String(synchronous);
  return [{ setting: "synchronous", value, expected: LEVELS[needed] ?? "full" }];
}

// With a rollback journal, a commit is the removal of a file, and only `extra` syncs the folder it was in.
function neededLevel(journalMode: string): number {
  return journalMode === "wal" ? FULL : EXTRA;
}

/** Keeps one handle as durable as was asked for. */
export class DurabilityKeeper {
  readonly #client: SqliteClient;
  #mayChange = false;
  #needed: number | undefined;

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  /** Applies what a store or dedup was made with; two of them on one handle get the stricter of their wishes. */
  require(
    durability: Durability,
    { name, observer }: { readonly name: string; readonly observer: Observer | undefined },
  ): Settings {
    if (durability !== "as_is") this.#mayChange = true;
    const settings = this.#keepAndRead();
    const lost = lostPromises(settings);
    if (durability === "strict" && lost.length > 0) throw refused(name, lost);
    for (const promise of lost) notify(observer, { kind: "store_promise_lost", store: name, ...promise });
    return settings;
  }

  /**
   * Sets what is needed, where that is allowed; false while it cannot, because the file is locked. Called before
   * every transaction of our own: the host may have lowered a setting since.
   */
  keep(): boolean {
    // SQLite changes no setting inside a transaction; the next call comes outside.
    if (!this.#mayChange || this.#client.inTransaction) return true;
    this.#needed ??= this.#switchToWal();
    if (this.#needed === undefined) return false;
    if (this.#level() < this.#needed) this.#setLevel(this.#needed);
    return true;
  }

  #level(): number {
    return this.#client.setting("synchronous", "synchronous");
  }

  #setLevel(level: number): void {
    this.#client.exec(`pragma synchronous = ${level}`);
  }

  // At the start only, so it may sleep: of several processes that begin together on a new file, each has to wait
  // until another has switched it, and one that gave up would not start.
  #keepAndRead(): Settings {
    const client = this.#client;
    try {
      return client.withLockWait(START_WAIT_MS, () => {
        // A switch that meets another is refused without waiting; taking the write lock waits for the other's end.
        for (let tries = 0; !this.keep() && tries < START_TRIES; tries++)
          client.exec("begin immediate; rollback");
        return this.#read();
      });
    } catch (error) {
      throw storeError(error);
    }
  }

  #switchToWal(): number | undefined {
    try {
      const mode = String(this.#client.pragma("journal_mode = wal"));
      // better-sqlite3 is built to lower `synchronous` to normal when a WAL file is first read, not before: the
      // level must be set by name, or a look at it right after the switch says "full" and the next commit is not.
      const needed = neededLevel(mode);
      this.#setLevel(Math.max(needed, this.#level()));
      return needed;
    } catch (error) {
      if (refusalOf(error) === "locked") return undefined;
      throw error;
    }
  }

  #read(): Settings {
    const client = this.#client;
    // Makes SQLite open the file: before its first read, `synchronous` is not yet what commits will use.
    client.get("select 1 from sqlite_schema limit 1");
    const main = client.get("select file from pragma_database_list where name = 'main'") as {
      file: string | null;
    };
    return {
      file: Boolean(main.file),
      journalMode: String(client.pragma("journal_mode")),
      synchronous: this.#level(),
    };
  }
}

function refused(name: string, lost: readonly LostPromise[]): PosthornError<StoreErrorCode> {
  const found = lost
    .map(({ setting, value, expected }) => `${setting} is ${value}; expected ${expected}`)
    .join(", ");
  return new PosthornError(
    "store_option_invalid",
    `${name}: durability is "strict", but an acknowledged event could vanish when the power fails: ${found}.`,
  );
}
