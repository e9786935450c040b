import type { Database } from "better-sqlite3";
import type { Clock, SecretSeal } from "posthorn";
import { systemClock } from "posthorn";
import { joinRegistry } from "../registry.js";
import type { Registry } from "../registry.js";
import { RegistryDatabase } from "./database.js";
import { SqliteAudit } from "./audit.js";
import { SqliteOperations } from "./operations.js";
import { SqliteRejected } from "./rejected.js";
import { SqliteSeries } from "./series.js";
import { SqliteSessions } from "./sessions.js";
import { SqliteSources } from "./sources.js";
import { SqliteTokens } from "./tokens.js";

/** The registry in the outbox's file, on its handle. */
export function sqliteRegistry(
  handle: Database,
  seal: SecretSeal,
  clock: Pick<Clock, "now"> = systemClock,
): Registry {
  // Set here, whatever the handle had before: a token that was shown once must survive a power failure.
  handle.pragma("synchronous = full");
  const db = new RegistryDatabase(handle);
  return joinRegistry({
    sources: new SqliteSources(db, seal),
    tokens: new SqliteTokens(db),
    sessions: new SqliteSessions(db),
    rejected: new SqliteRejected(db, seal),
    series: new SqliteSeries(db, clock),
    operations: new SqliteOperations(db, clock),
    audit: new SqliteAudit(db),
    probeWrite: (node) => probeWrite(db, node),
  });
}

async function probeWrite(db: RegistryDatabase, node: string): Promise<void> {
  await db.run(
    `insert into posthorn_probe (one, node, written_at) values (1, ?, ?)
     on conflict (one) do update set node = excluded.node, written_at = excluded.written_at`,
    node,
    systemClock.now(),
  );
}
