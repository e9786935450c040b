import type { Settings } from "../config/settings.js";
import type { OpenStore, OpenStoreOptions } from "./opened-store.js";

/** Opens the database that the settings name. Nothing is created in it before `migrate`. */
export async function openStore(settings: Settings, options: OpenStoreOptions): Promise<OpenStore> {
  const { database } = settings;
  // Only the driver that is used is loaded: the other one costs memory and time at each start.
  if (database === undefined) return (await import("./open-sqlite.js")).openSqlite(settings, options);
  return (await import("./open-postgres.js")).openPostgres({ ...settings, database }, options);
}
