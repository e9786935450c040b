import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { sqliteDedup } from "posthorn/sqlite";
import type { Case, Ratio, SuiteContext } from "../../suite.js";
import { recordFirst } from "./dedup-cases.js";
import type { IdSource } from "./event-ids.js";
import { orderedIds } from "./event-ids.js";

export const SQLITE = {
  ours: "sqlite dedup, 1,000 callers",
  raw: "sqlite raw transactions of 100",
} as const;

export const sqliteRatios: readonly Ratio[] = [
  { name: "sqlite dedup of 1,000 callers / raw", of: SQLITE.ours, to: SQLITE.raw, goal: ">= 0.5" },
];

const ROWS_PER_TRANSACTION = 100;
const TTL_MS = 14 * 24 * 3600 * 1000;

/** Opens a file on the disk, durable as `sqliteDedup` makes it; closed and removed with the suite. */
export function openFile(context: SuiteContext, name: string): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-bench-"));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  const db = new Database(join(folder, `${name}.db`));
  context.onClose(() => void db.close());
  db.pragma("journal_mode = wal");
  db.pragma("synchronous = full");
  return db;
}

export async function sqliteCases(context: SuiteContext): Promise<Case[]> {
  const nextId = orderedIds();
  const [ourDb, rawDb] = [openFile(context, "dedup"), openFile(context, "raw")];
  const adapter = sqliteDedup({ db: ourDb });
  // The raw limit has the same table and index: the adapter makes them, and is used no further.
  await recordFirst(sqliteDedup({ db: rawDb }), nextId);
  await recordFirst(adapter, nextId);
  const writeRows = rawWriter(rawDb, nextId);
  return [
    {
      kind: "load",
      group: "sqlite",
      name: SQLITE.ours,
      callers: 1000,
      beforeTurn: () => emptyTable(ourDb),
      call: () => recordFirst(adapter, nextId),
    },
    {
      kind: "load",
      group: "sqlite",
      name: SQLITE.raw,
      callers: 1,
      operationsPerCall: ROWS_PER_TRANSACTION,
      beforeTurn: () => emptyTable(rawDb),
      call: () => Promise.resolve(writeRows()),
    },
  ];
}

/** The statement of `sqliteDedup`, 100 times in one transaction: nobody waits, is answered, or sweeps. */
function rawWriter(db: Database.Database, nextId: IdSource): () => void {
  const insert = db.prepare<[string, number, number]>(
    `insert into posthorn_dedup (id, expires_at) values (?, ?)
     on conflict (scope, id) do update set expires_at = excluded.expires_at where posthorn_dedup.expires_at <= ?`,
  );
  const writeRows = db.transaction(() => {
    for (let row = 0; row < ROWS_PER_TRANSACTION; row += 1) {
      const now = Date.now();
      const { changes } = insert.run(nextId(), now + TTL_MS, now);
      if (changes !== 1) throw new Error("An id that is new was called a duplicate.");
    }
  });
  return () => writeRows.immediate();
}

function emptyTable(db: Database.Database): void {
  db.exec("delete from posthorn_dedup");
  // Each begins with an empty log, and neither pays for the other's rows.
  db.pragma("wal_checkpoint(truncate)");
}
