import { migrate, sqliteStore } from "posthorn/sqlite";
import type { SuiteContext } from "../../suite.js";
import { openFile } from "../inbox/sqlite-cases.js";
import { openOutbox } from "./bench-outbox.js";
import type { BenchOutbox } from "./bench-outbox.js";
import type { ReceivingServer } from "./receiving-server.js";

// All but the endpoints and what they are matched by.
const TABLES = [
  "event",
  "outbox_key",
  "later",
  "stage_dead",
  "lane",
  "delivery",
  "loose_delivery",
  "place",
  "attempt",
  "dead",
  "cancelled",
];

/** An outbox in a durable file of its own. */
export async function openSqliteOutbox(context: SuiteContext, server: ReceivingServer): Promise<BenchOutbox> {
  const db = openFile(context, "outbox");
  await migrate(db);
  return openOutbox(sqliteStore({ db }), server, {
    empty: () => void db.exec(TABLES.map((table) => `delete from posthorn_${table};`).join("\n")),
    // Each turn begins with an empty log.
    settleDown: () => void db.pragma("wal_checkpoint(truncate)"),
  });
}

/** One durable commit of one row, in a file of its own. */
export function sqliteCommitOf(context: SuiteContext): (key: string) => void {
  const db = openFile(context, "light");
  db.exec("create table light_commit (id integer primary key, key text)");
  const insert = db.prepare("insert into light_commit (key) values (?)");
  return (key) => void insert.run(key);
}
