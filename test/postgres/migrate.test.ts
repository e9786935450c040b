import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client, Pool } from "pg";
import { migrate, postgresDedup, postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { printSchema } from "./catalog.js";
import { drivers } from "./drivers.js";

const source = (path: string): string =>
  fileURLToPath(new URL(`../../library/src/stores/postgres/schema/${path}`, import.meta.url));
const ALL = readdirSync(source("migrations")).map((file) => file.replace(/\.sql$/, ""));

describe.each(drivers)("migrate on $name", async (driver) => {
  const url = await freshDatabase({ migrated: false });
  const byHand = await freshDatabase({ migrated: false });
  const pool = driver.open(url);

  it("of several processes that start at once, one creates the tables and the others wait", async () => {
    const pools = [1, 2, 3, 4].map(() => driver.open(url, { max: 1 }));
    const reports = await Promise.all(pools.map(({ client }) => migrate(client)));
    const applied = reports.flatMap((report) => report.applied);
    expect(applied).toEqual(ALL);
    for (const { version } of reports) expect(version).toBe(ALL.length);
  });

  it("finds nothing to do the second time", async () => {
    expect(await migrate(pool.client)).toEqual({ applied: [], version: ALL.length });
  });

  it("makes exactly what the committed schema.sql says", async () => {
    await expect(await printSchema(pool, "posthorn")).toMatchFileSnapshot(source("schema.sql"));
  });

  it("makes the same in a schema of another name, even one that needs quotes", async () => {
    await migrate(pool.client, { schema: "Odd-Name" });
    const [standard, odd] = [await printSchema(pool, "posthorn"), await printSchema(pool, '"Odd-Name"')];
    expect(odd.replaceAll('"Odd-Name"', "posthorn")).toBe(standard);
    const store = postgresStore({ client: pool.client, schema: "Odd-Name" });
    expect(await store.find({ tenant: "default", source: "stripe", id: "evt_1" })).toBeUndefined();
    const adapter = postgresDedup({ client: pool.client, schema: "Odd-Name", autoMigrate: false });
    expect(await adapter.record("evt_1", 60)).toEqual({ duplicate: false });
  });

  it("a database that a newer version has migrated is refused, and left alone", async () => {
    await migrate(pool.client, { schema: "newer" });
    await pool.rows("insert into newer.migration values (9000, '9000_from_the_future', now())");
    await expect(migrate(pool.client, { schema: "newer" })).rejects.toMatchObject({
      code: "store_not_migrated",
      detail: { found: 9000, known: ALL.length },
    });
  });

  it("another set is numbered for itself, beside Posthorn's own and under the same lock", async () => {
    const migrations = [
      { version: 1, name: "0001_create_source", sql: "create table posthorn.source (name text)" },
      { version: 2, name: "0002_add_url", sql: "alter table posthorn.source add column url text" },
    ];
    const set = { name: "server", migrations: migrations.slice(0, 1) };
    const schema = "with_set";
    const reports = await Promise.all([1, 2, 3].map(() => migrate(pool.client, { schema, set })));
    expect(reports.flatMap(({ applied }) => applied)).toEqual(["0001_create_source"]);
    expect((await migrate(pool.client, { schema })).applied).toEqual(ALL);
    const whole = { ...set, migrations };
    expect(await migrate(pool.client, { schema, set: whole })).toEqual({
      applied: ["0002_add_url"],
      version: 2,
    });
    expect(await migrate(pool.client, { schema })).toEqual({ applied: [], version: ALL.length });
    expect(await pool.rows("select version, url from with_set.server_migration, with_set.source")).toEqual(
      [],
    );
    await expect(migrate(pool.client, { schema, set })).rejects.toMatchObject({
      code: "store_not_migrated",
      detail: { found: 2, known: 1 },
    });
  });

  it.each([
    { name: "Server", migrations: [] },
    { name: "a; drop", migrations: [] },
    { name: "server", migrations: [{ version: 2, name: "0002_later", sql: "select 1" }] },
  ])("a set of another form is refused: %j", async (set) => {
    await expect(migrate(pool.client, { set })).rejects.toMatchObject({ code: "store_option_invalid" });
  });

  it("killed midway, it leaves nothing half done, and is done by the next", async () => {
    await pool.rows("create schema killed; create table killed.dedup (id text)");
    const holder = await pool.begin();
    await pool.inside(holder.client, "lock table killed.dedup in access exclusive mode");
    const victim = driver.open(url, { max: 1, applicationName: `victim-${driver.name}` });
    const killed = expect(migrate(victim.client, { schema: "killed" })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    // It waits for the held table in its last migration, with all others done in its transaction.
    const waiting = `from pg_stat_activity where application_name = 'victim-${driver.name}' and wait_event_type = 'Lock'`;
    await expect.poll(() => pool.rows(`select 1 as one ${waiting}`)).toHaveLength(1);
    await pool.rows(`select pg_terminate_backend(pid) ${waiting}`);
    await killed;
    await holder.rollback();
    expect(await pool.rows("select to_regclass('killed.inbox')::text as name")).toEqual([{ name: null }]);
    await pool.rows("drop table killed.dedup");
    expect((await migrate(pool.client, { schema: "killed" })).applied).toEqual(ALL);
  });

  it("the plain files do the same for people's own tools, and migrate accepts what they made", async () => {
    const own = driver.open(byHand, { max: 1 });
    for (const name of ALL) await own.rows(readFileSync(source(`migrations/${name}.sql`), "utf8"));
    await migrate(own.client);
    expect(await printSchema(own, "posthorn")).toBe(await printSchema(pool, "posthorn"));
  });
});

describe("a role that may only use the tables", async () => {
  const url = await freshDatabase({ migrated: false });
  const owner = drivers[0]?.open(url, { max: 2 });
  const role = `posthorn_user_${Math.random().toString(36).slice(2)}`;

  it("has all it needs with the grants of docs/postgres.md, and finds the database migrated", async () => {
    if (!owner) throw new Error("no driver");
    await migrate(owner.client);
    const docs = readFileSync(new URL("../../docs/postgres.md", import.meta.url), "utf8");
    const grants = /```sql\n(grant [\s\S]*?)```/.exec(docs)?.[1];
    if (grants === undefined) throw new Error("docs/postgres.md has no block of grants");
    const [{ name: ownerName } = { name: "" }] = await owner.rows("select current_user as name");
    await owner.rows(`create role ${role} login`);
    try {
      await owner.rows(grants.replaceAll("app_user", role).replaceAll("owner_user", ownerName ?? ""));
      await useAs(role, url);
    } finally {
      await owner.rows(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

async function useAs(role: string, url: string): Promise<void> {
  const restricted = new URL(url);
  restricted.username = role;
  const pool = new Pool({ connectionString: restricted.href, max: 2 });
  try {
    expect(await migrate(pool)).toMatchObject({ applied: [] });
    const store = postgresStore({ client: pool });
    const key = { tenant: "default", source: "stripe", id: "evt_1", idPreview: undefined };
    const content = { body: Buffer.from("{}"), bodyHash: Buffer.alloc(32), headers: "{}" };
    const arrival = { ...key, ...content, type: "invoice.paid", eventAt: undefined, windowS: 1 };
    await store.fail(arrival, "no");
    const limits = { acquireMs: 1000, signal: AbortSignal.timeout(5000) };
    expect(await store.accept(arrival, () => ({ outcome: "skipped" }), limits)).toMatchObject({
      kind: "applied",
    });
    await store.refuse(arrival, "conflict");
    store.touch(arrival);
    await store.flush();
    await store.purge({ maxRows: 10, deadlineMs: 1000 });
    expect(await store.read(arrival)).toMatchObject({ attempts: 2 });
    const adapter = postgresDedup({ client: pool });
    expect(await adapter.record("evt_1", 60)).toEqual({ duplicate: false });
    await adapter.purge({ maxRows: 10, deadlineMs: 1000 });
    await expect(pool.query("create table posthorn.more (n int)")).rejects.toMatchObject({ code: "42501" });
  } finally {
    await pool.end();
  }
}

describe("a single client of pg", async () => {
  const url = await freshDatabase({ migrated: false });

  it("migrates as a pool does, and is refused inside of a transaction, which it would commit", async () => {
    const client = new Client(url);
    await client.connect();
    await client.query("begin");
    await expect(migrate(client)).rejects.toMatchObject({ code: "store_option_invalid" });
    await client.query("commit");
    expect((await migrate(client)).applied).toEqual(ALL);
    await client.end();
  });
});

it.each(["", "1st", 'a"b', "a'b", "a b", "x".repeat(53), "posthorn;drop"])(
  "a schema of the name %j is refused",
  async (schema) => {
    const { client } = drivers[0]?.open("postgres://nobody@127.0.0.1:1/x", { max: 1 }) ?? {};
    await expect(migrate(client as never, { schema })).rejects.toMatchObject({
      code: "store_option_invalid",
    });
  },
);
