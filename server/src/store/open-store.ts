import { existsSync } from "node:fs";
import type { Observer, SecretSeal, Signal } from "posthorn";
import type { Settings } from "../config/settings.js";
import { databasePath, makeDataDir } from "../data-dir.js";
import type { Logger } from "../observe/log.js";
import type { OpenStore, OpenStoreOptions } from "../parts.js";
import { checkKey, WatchedSeal } from "../secrets/key-check.js";
import { masterKeyOf } from "../secrets/master-key.js";
import { createSeal } from "../secrets/seal.js";
import { isBesideApplication } from "./beside-application.js";
import { applicationsTables, tablesFailure } from "./schema-age.js";

/** Opens the database that the settings name. Nothing is created in it before `migrate`. */
export async function openStore(settings: Settings, options: OpenStoreOptions): Promise<OpenStore> {
  const { database } = settings;
  // Only the driver that is used is loaded: the other one costs memory and time at each start.
  if (database === undefined) return (await import("./open-sqlite.js")).openSqlite(settings, options);
  return (await import("./open-postgres.js")).openPostgres({ ...settings, database }, options);
}

/** The seal of these settings; on SQLite its key is made at the first start. */
export function sealOf(settings: Settings, log?: Logger): SecretSeal {
  const { database, dataDir } = settings;
  if (database === undefined) makeDataDir(dataDir);
  const key = masterKeyOf(settings, () => !existsSync(databasePath(dataDir)));
  if (key.made)
    log?.info({ file: key.from }, "a master key was made; keep a copy of it apart from the database");
  return createSeal(key.bytes);
}

/** Opens the database for a node that runs on it: with its tables as they should be, and under the right key. */
export async function openOwnStore(
  settings: Settings,
  { observer, log }: { readonly observer: Observer; readonly log: Logger },
): Promise<OpenStore> {
  const onIdleError = (error: Error): void => log.warn({ err: error }, "a connection to the database broke");
  const seal = new WatchedSeal(sealOf(settings, log));
  const told = new WithheldSignals(observer);
  const store = await openStore(settings, { seal, observer: told.observer, onIdleError });
  try {
    await bringUp(store, settings, log);
    await checkKey(store, seal);
    told.release();
    await takeOver(store, log);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Until the key is known to fit, endpoints that cannot be opened are not told of: the cause of all is told once. */
class WithheldSignals {
  readonly observer: Observer;
  readonly #listener: Observer;
  #withheld: Signal[] | undefined = [];

  constructor(listener: Observer) {
    this.#listener = listener;
    this.observer = (signal) => {
      if (this.#withheld === undefined || signal.kind !== "endpoint_disabled") listener(signal);
      else this.#withheld.push(signal);
    };
  }

  release(): void {
    const withheld = this.#withheld ?? [];
    this.#withheld = undefined;
    for (const signal of withheld) this.#listener(signal);
  }
}

/** Only one process holds the data directory: whoever had something under way there is dead. */
async function takeOver(store: OpenStore, log: Logger): Promise<void> {
  const leases = await store.endLeases();
  if (leases > 0) log.info({ leases }, "what was under way when the last process died is due at once");
}

async function bringUp(store: OpenStore, settings: Settings, log: Logger): Promise<void> {
  const age = await store.schemaAge();
  const migrate = settings.migrate && !isBesideApplication(settings);
  if (age === "older" && settings.migrate && !migrate) throw applicationsTables(settings.schema);
  // Not by trying: a migration would be refused too, and in words that send people back to it.
  if (age === "newer" || (age === "older" && !migrate)) throw tablesFailure(age);
  if (age === "current") return;
  log.info({ migrations: await store.migrate() }, "the database was migrated");
}
