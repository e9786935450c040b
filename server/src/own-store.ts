import { existsSync } from "node:fs";
import type { Observer, SecretSeal } from "posthorn";
import type { Settings } from "./config/settings.js";
import { databasePath, makeDataDir } from "./data-dir.js";
import type { Logger } from "./observe/log.js";
import { openStore } from "./open-store.js";
import type { OpenStore } from "./opened-store.js";
import { checkKey, WatchedSeal } from "./secrets/key-check.js";
import { masterKeyOf } from "./secrets/master-key.js";
import { createSeal } from "./secrets/seal.js";
import { CommandFailure } from "./terminal/failure.js";

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
  const store = await openStore(settings, { seal, observer, onIdleError });
  try {
    await bringUp(store, settings, log);
    await checkKey(store, seal);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function bringUp(store: OpenStore, { migrate }: Settings, log: Logger): Promise<void> {
  if (migrate) {
    const applied = await store.migrate();
    if (applied.length > 0) log.info({ migrations: applied }, "the database was migrated");
  } else if (!(await store.isCurrent())) {
    throw new CommandFailure("failed", "The tables of the database are not those of this version.", {
      code: "not_migrated",
      cure: "Run `posthorn migrate` under a role that may change them, or start without --no-migrate.",
    });
  }
}
