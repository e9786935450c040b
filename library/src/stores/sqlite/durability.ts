import type { InboxErrorCode } from "../../inbox/inbox-errors.js";
import { notify } from "../../observer.js";
import type { Observer } from "../../observer.js";
import { PosthornError } from "../../posthorn-error.js";
import type { SqliteClient } from "./client.js";
import { refusalOf } from "./failure.js";

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
  require(durability: Durability, { name, observer }: { readonly name: string; readonly observer: Observer | undefined }): Settings {
    if (durability !== "as_is") this.#mayChange = true;
    this.keep();
    const settings = this.#read();
    const lost = lostPromises(settings);
    if (durability === "strict" && lost.length > 0) throw refused(name, lost);
    for (const promise of lost) notify(observer, { kind: "store_promise_lost", store: name, ...promise });
    return settings;
  }

  /**
   * Sets what is needed, where that is allowed. Called before every transaction of our own: the host may have
   * lowered a setting since, and one that was refused because the file was locked gets its next chance.
   */
  keep(): void {
    // SQLite changes no setting inside a transaction; the next call comes outside.
    if (!this.#mayChange || this.#client.inTransaction) return;
    this.#needed ??= this.#switchToWal();
    if (this.#needed === undefined) return;
    const level = this.#client.pragma<{ synchronous: number }>("synchronous")?.synchronous ?? 0;
    if (level < this.#needed) this.#client.exec(`pragma synchronous = ${LEVELS[this.#needed] ?? "full"}`);
  }

  #switchToWal(): number | undefined {
    try {
      const mode = this.#client.pragma<{ journal_mode: string }>("journal_mode = wal")?.journal_mode ?? "";
      // better-sqlite3 is built to lower `synchronous` to normal when a WAL file is first read, not before: the
      // level must be set by name, or a look at it right after the switch says "full" and the next commit is not.
      const needed = neededLevel(mode);
      this.#client.exec(`pragma synchronous = ${LEVELS[needed] ?? "full"}`);
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
    const file = client.get<{ file: string }>("select file from pragma_database_list where name = 'main'")?.file ?? "";
    return {
      file: file !== "",
      journalMode: client.pragma<{ journal_mode: string }>("journal_mode")?.journal_mode ?? "",
      synchronous: client.pragma<{ synchronous: number }>("synchronous")?.synchronous ?? 0,
    };
  }
}

function refused(name: string, lost: readonly LostPromise[]): PosthornError<InboxErrorCode> {
  const found = lost.map(({ setting, value, expected }) => `${setting} is ${value}; expected ${expected}`).join(", ");
  return new PosthornError(
    "inbox_option_invalid",
    `${name}: durability is "strict", but an acknowledged event could vanish when the power fails: ${found}.`,
  );
}
