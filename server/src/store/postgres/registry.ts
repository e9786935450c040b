import type { Pool } from "pg";
import type { SecretSeal } from "posthorn";
import { joinRegistry } from "../registry.js";
import type { Registry } from "../registry.js";
import { RegistryDatabase } from "./database.js";
import { PostgresAudit } from "./audit.js";
import { PostgresOperations } from "./operations.js";
import { PostgresRejected } from "./rejected.js";
import { PostgresSeries } from "./series.js";
import { PostgresSessions } from "./sessions.js";
import { PostgresSources } from "./sources.js";
import { PostgresTokens } from "./tokens.js";

/** The registry in Postgres, in the same schema as the outbox. */
export function postgresRegistry(
  pool: Pool,
  schema: string,
  seal: SecretSeal,
  { deadlineMs }: { readonly deadlineMs?: number } = {},
): Registry {
  const db = new RegistryDatabase(pool, schema, deadlineMs);
  return joinRegistry({
    sources: new PostgresSources(db, seal),
    tokens: new PostgresTokens(db),
    sessions: new PostgresSessions(db),
    rejected: new PostgresRejected(db, seal),
    series: new PostgresSeries(db),
    operations: new PostgresOperations(db),
    audit: new PostgresAudit(db),
    probeWrite: (node) => probeWrite(db, node),
  });
}

// One row for all nodes: a row per node would remain after every restart.
async function probeWrite(db: RegistryDatabase, node: string): Promise<void> {
  await db.query(
    `insert into ${db.table("probe")} (node, written_at) values ($1::text, clock_timestamp())
     on conflict (one) do update set node = excluded.node, written_at = excluded.written_at`,
    [node],
  );
}
