import { migrate, sqliteOutbox, sqliteStore } from "posthorn/sqlite";
import { same } from "../../library/src/testing/conformance/expectation.js";
import { eventOf } from "../../library/src/testing/conformance/outbox-steps.js";
import { createDatabaseFile } from "../sqlite/database-file.js";
import type { Targeted } from "./targeted.js";

export const WAITS_FOR_DISK = "a commit waits for the disk";

const FULL = 2;

export function sqliteCases(): readonly Targeted[] {
  return [{ name: WAITS_FOR_DISK, run: waitsForDisk }];
}

async function waitsForDisk(): Promise<void> {
  const file = createDatabaseFile();
  try {
    const db = file.open();
    await migrate(db);
    const [inbox, outbox] = [sqliteStore({ db }), sqliteOutbox({ db })];
    // The host lowers it, as better-sqlite3 does by itself when it opens a WAL file.
    db.pragma("synchronous = normal");
    await outbox.append([await eventOf()]);
    same(db.pragma("synchronous", { simple: true }), FULL, "synchronous");
    same(inbox.capabilities.survivesPowerLoss, true, "what the inbox says of power losses");
  } finally {
    file.remove();
  }
}
