import type { SecretSeal } from "posthorn";
import { migrate as migratePostgres } from "posthorn/postgres";
import { migrate as migrateSqlite } from "posthorn/sqlite";
import { afterAll, describe, expect, it } from "vitest";
import type { SeriesRegistry, SeriesRow } from "../../server/src/store/series.js";
import { SERVER_MIGRATIONS as POSTGRES_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { SERVER_MIGRATIONS as SQLITE_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { sqliteRegistry } from "../../server/src/store/sqlite/registry.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";
import { createDatabaseFile } from "../sqlite/database-file.js";

const seal: SecretSeal = { seal: (secret) => secret, open: (sealed) => sealed };

async function onPostgres(): Promise<SeriesRegistry> {
  const pool = quietPool({ connectionString: await freshDatabase(), max: 5 });
  afterAll(() => pool.end());
  await migratePostgres(pool, { set: { name: "server", migrations: POSTGRES_MIGRATIONS } });
  return postgresRegistry(pool, "posthorn", seal);
}

async function onSqlite(): Promise<SeriesRegistry> {
  const file = createDatabaseFile();
  afterAll(() => file.remove());
  const db = file.open();
  await migrateSqlite(db, { set: { name: "server", migrations: SQLITE_MIGRATIONS } });
  return sqliteRegistry(db, seal);
}

const NINE = Date.UTC(2026, 10, 18, 9);

function row(minute: number, given: Partial<SeriesRow> = {}): SeriesRow {
  return {
    step: 60,
    kind: "source",
    at: new Date(NINE + minute * 60_000),
    name: "stripe",
    counts: { stored: 1 },
    duration: "",
    lag: "3:1",
    ...given,
  };
}

const ALL = { step: 60, kind: "source", since: new Date(NINE), until: new Date(NINE + 3_600_000) } as const;

describe.each([
  ["Postgres", onPostgres],
  ["SQLite", onSqlite],
])("counters on %s", async (_name, open) => {
  const registry = await open();

  it("of two nodes are rows of their own, and a node that writes again replaces its own", async () => {
    await registry.recordSeries("one", [row(0), row(1, { counts: { stored: 5 } })]);
    await registry.recordSeries("two", [row(0, { counts: { stored: 7 } })]);
    await registry.recordSeries("one", [row(0, { counts: { stored: 2, rejected: 1 } })]);
    await registry.recordSeries("one", []);
    const rows = await registry.readSeries(ALL);
    const told = rows.map(({ at, counts }) => `${at.getTime() - NINE}: ${counts["stored"]}`);
    expect(told.toSorted()).toEqual(["0: 2", "0: 7", "60000: 5"]);
    expect(rows.find(({ counts }) => counts["stored"] === 2)).toEqual(
      row(0, { counts: { stored: 2, rejected: 1 } }),
    );
  });

  it("are read of one kind, one step, one range and one name", async () => {
    await registry.recordSeries("one", [
      row(10, { name: "other" }),
      row(11, { kind: "endpoint", name: "ep_1" }),
      row(12, { step: 3600, at: new Date(NINE), name: "hourly" }),
      row(60, { name: "late" }),
    ]);
    const names = async (span: object): Promise<readonly string[]> =>
      [...new Set((await registry.readSeries({ ...ALL, ...span })).map(({ name }) => name))].toSorted();
    expect(await names({})).toEqual(["other", "stripe"]);
    expect(await names({ kind: "endpoint" })).toEqual(["ep_1"]);
    expect(await names({ step: 3600 })).toEqual(["hourly"]);
    expect(await names({ name: "other" })).toEqual(["other"]);
    expect(await names({ since: new Date(NINE + 3_600_000), until: new Date(NINE + 7_200_000) })).toEqual([
      "late",
    ]);
    const seen = await registry.lastSeen("source", new Date(NINE - 1));
    expect(seen.get("other")).toEqual(new Date(NINE + 600_000));
    expect((await registry.lastSeen("source", new Date(NINE + 3_600_000))).has("other")).toBe(false);
  });

  it("that are old are forgotten, some at a time, and no others", async () => {
    const old = Array.from({ length: 5 }, (_, n) => row(-60 - n));
    await registry.recordSeries("one", [...old, row(-70, { step: 3600 })]);
    expect(await registry.forgetSeries(60, new Date(NINE - 60_000), 3)).toBe(3);
    expect(await registry.forgetSeries(60, new Date(NINE - 60_000), 3)).toBe(2);
    const before = { ...ALL, since: new Date(0), until: new Date(NINE) };
    expect(await registry.readSeries(before)).toEqual([]);
    expect(await registry.readSeries({ ...before, step: 3600 })).toHaveLength(1);
    expect(await registry.readSeries(ALL)).not.toEqual([]);
  });

  it("name the nodes that were seen of late", async () => {
    const startedAt = new Date(NINE);
    await registry.recordNode({ name: "two", roles: ["api"], version: "1.2.3", startedAt });
    await registry.recordNode({ name: "one", roles: ["ingest", "dispatch"], version: "1.2.3", startedAt });
    await registry.recordNode({ name: "one", roles: ["ingest", "dispatch"], version: "1.2.3", startedAt });
    const nodes = await registry.listNodes(60_000);
    expect(nodes).toMatchObject([
      { name: "one", roles: ["ingest", "dispatch"], startedAt },
      { name: "two", roles: ["api"] },
    ]);
    expect(nodes[0]?.seenMs).toBeLessThan(60_000);
    expect(await registry.listNodes(-1)).toEqual([]);
    await registry.forgetNode("one");
    expect(await registry.listNodes(60_000)).toMatchObject([{ name: "two" }]);
  });
});
