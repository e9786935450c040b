import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { defaultSettings } from "../config/load.js";
import { databasePath } from "../data-dir.js";
import { NO_SEAL } from "../secrets/seal.js";
import { openSqlite } from "./open-sqlite.js";

const INCREMENTAL = 2;
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "posthorn-open-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function openAndMigrate(): Promise<void> {
  const store = await openSqlite(defaultSettings({ dataDir }), { seal: NO_SEAL });
  await store.migrate();
  await store.close();
}

function autoVacuum(): unknown {
  const db = new Database(databasePath(dataDir));
  try {
    return db.pragma("auto_vacuum", { simple: true });
  } finally {
    db.close();
  }
}

it("a new file gives the pages of removed rows back to the disk, and stays so when it is opened again", async () => {
  await openAndMigrate();
  expect(autoVacuum()).toBe(INCREMENTAL);
  await openAndMigrate();
  expect(autoVacuum()).toBe(INCREMENTAL);
});

it("a file that was there before keeps its own setting", async () => {
  const db = new Database(databasePath(dataDir));
  db.exec("create table host (id integer primary key)");
  db.close();
  await openAndMigrate();
  expect(autoVacuum()).toBe(0);
});
