import type { Database } from "better-sqlite3";
import { migrate } from "posthorn/sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SERVER_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { sqliteRegistry } from "../../server/src/store/sqlite/registry.js";
import { createDatabaseFile } from "./database-file.js";
import type { DatabaseFile } from "./database-file.js";

let file: DatabaseFile;
let db: Database;
const statements = new Set<string>();

beforeAll(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
  await migrate(db, { set: { name: "server", migrations: SERVER_MIGRATIONS } });
});
afterAll(() => file.remove());

/** The handle, noting what is prepared on it. */
function noting(handle: Database): Database {
  return new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const bound = value.bind(target) as (...given: unknown[]) => unknown;
      if (name !== "prepare") return bound;
      return (sql: string) => {
        statements.add(sql);
        return bound(sql);
      };
    },
  });
}

const SPAN = { since: new Date(0), until: new Date() };
const PAGE = { limit: 10 };

/** Looks at everything that pages show of the server's own tables. */
async function lookAtAll(): Promise<void> {
  const registry = sqliteRegistry(noting(db), { seal: (secret) => secret, open: (sealed) => sealed });
  for (const step of [60, 3600] as const) {
    await registry.readSeries({ step, kind: "source", ...SPAN });
    await registry.readSeries({ step, kind: "endpoint", name: "ep_1", ...SPAN });
  }
  await registry.lastSeen("source", new Date(0));
  const { audit, operations } = registry;
  await audit.listAudit(PAGE);
  for (const asked of [{ actor: "a" }, { action: "a" }, { kind: "a" }, { subject: "a" }])
    await audit.listAudit({ ...asked, from: "aud_1", before: "aud_9", ...PAGE });
  await audit.auditOf(["dlv_1_1", "1"], 10);
  await audit.readNotes(["g1"]);
  await operations.listOperations(PAGE);
  await operations.listOperations({ state: "running", after: "op_9", ...PAGE });
  await operations.listOperations({ verb: "redrive", ...PAGE });
  await operations.listItems("op_1", { after: 0, limit: 10 });
  await operations.listItems("op_1", { result: "pending", after: 0, limit: 10 });
  await operations.itemsAbout({ eventId: "e1", lanes: ["1"] }, 10);
  await registry.listRejected(PAGE);
  await registry.listRejected({ source: "shop", ...PAGE });
  await registry.readRejected("rej_1");
}

it("no page of the server's own tables reads a whole table, however long its past is", async () => {
  await lookAtAll();
  const ours = [...statements].filter((sql) => sql.includes("posthorn_"));
  expect(ours.length).toBeGreaterThan(12);
  const scanning = ours.flatMap((sql) => {
    const values = Array.from(sql.matchAll(/\?/g), () => null);
    const plan = db.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    const scan = plan.find(({ detail }) => /^SCAN (?!json_each)(?!.* USING (COVERING )?INDEX)/.test(detail));
    const sorts = plan.some(({ detail }) => detail.includes("TEMP B-TREE"));
    // A page that goes along the primary key stops at its limit.
    if (scan === undefined || (sql.includes("limit ?") && !sorts)) return [];
    return [`${scan.detail}: ${sql.replaceAll(/\s+/g, " ")}`];
  });
  expect(scanning).toEqual([]);
});
