import { readdirSync, readFileSync } from "node:fs";
import { createSender } from "posthorn";
import { migrate, postgresStore } from "posthorn/postgres";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { openLanding } from "../outbox-landing.js";
import { FIRST_VERSION, publicationOf, pythonWith, runExample, statement, vectors } from "../outbox-spec.js";
import type { OutboxRow } from "../outbox-spec.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const url = await freshDatabase();
const pool = quietPool({ connectionString: url });
afterAll(() => pool.end());
const store = postgresStore({ client: pool });
const python = pythonWith("psycopg2");

function parametersOf(row: OutboxRow): unknown[] {
  const { public_id, tenant, source, type, key, content_type, headers, event_ms, expires_ms, body } = row;
  const expires = expires_ms === null ? null : new Date(expires_ms);
  const names = [public_id, tenant, source, type, key, content_type, headers];
  return [...names, new Date(event_ms), expires, Buffer.from(body)];
}

/** By the statement that its row asks for. */
async function publish(row: OutboxRow, database = pool): Promise<void> {
  const { deliver_ms } = row;
  if (deliver_ms === null) await database.query(statement("postgres: publish"), parametersOf(row));
  else
    await database.query(statement("postgres: publish later"), [...parametersOf(row), new Date(deliver_ms)]);
}

const forget = () =>
  pool.query(
    "delete from posthorn.event; delete from posthorn.outbox_key; delete from posthorn.stage; delete from posthorn.later",
  );

/** All that a publisher decides, of the rows that were written last, and where each of them waits. */
async function rowsOf(ids: readonly string[]): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select public_id, e.tenant, source, type, key, content_type, headers, event_at, expires_at, e.deliver_at, direction, body,
       s.tenant as staged_of, l.deliver_at as put_off_until
     from posthorn.event e left join posthorn.stage s on s.event_id = e.id left join posthorn.later l on l.event_id = e.id
     where public_id = any($1) order by e.id`,
    [ids],
  );
  return rows as unknown[];
}

describe("spec/outbox.md, in Postgres", () => {
  it("writes the rows that our own sender writes", async () => {
    const sender = createSender({ store });
    // Two tenants' worth of the same: what differs is the publisher.
    for (const { publication } of vectors.cases) await sender.publish(publicationOf(publication));
    const ids = vectors.cases.map(({ row }) => row.public_id);
    const ours = await rowsOf(ids);
    await forget();
    for (const { row } of vectors.cases) await publish(row);
    expect(await rowsOf(ids)).toEqual(ours);
    expect(ours).toHaveLength(vectors.cases.length);
    await forget();
  });

  it("publishes once: the statement and our own sender know each other's ids", async () => {
    const [vector] = vectors.cases.slice(1);
    if (vector === undefined) throw new Error("no vector");
    const { row, publication } = vector;
    const once = async (hash = row.content_hash): Promise<string> => {
      const { rows } = await pool.query<{ count: string }>(statement("postgres: publish once"), [
        ...parametersOf(row),
        Buffer.from(hash, "hex"),
      ]);
      return rows[0]?.count ?? "";
    };
    expect([await once(), await once()]).toEqual(["1", "0"]);
    const sender = createSender({ store });
    expect(await sender.publish(publicationOf(publication))).toMatchObject({ duplicate: true });
    expect(await rowsOf([row.public_id])).toHaveLength(1);
    const other = { ...publication, body: '{"a": 2}' };
    await expect(sender.publish(publicationOf(other))).rejects.toMatchObject({ code: "id_conflict" });
    const { rows } = await pool.query(statement("postgres: published hash"), [row.tenant, row.public_id]);
    expect(rows).toEqual([{ content_hash: Buffer.from(row.content_hash, "hex") }]);
    await forget();
  });

  it("publishes once and later: a kept id is known to our own sender", async () => {
    const vector = vectors.cases.find(({ row }) => row.deliver_ms !== null);
    if (vector === undefined) throw new Error("no vector");
    const { row, publication } = vector;
    const keep = () =>
      pool.query(statement("postgres: keep id"), [
        row.tenant,
        row.public_id,
        Buffer.from(row.content_hash, "hex"),
      ]);
    expect((await keep()).rowCount).toBe(1);
    await publish(row);
    expect((await keep()).rowCount).toBe(0);
    expect(await createSender({ store }).publish(publicationOf(publication))).toMatchObject({
      duplicate: true,
    });
    expect(await rowsOf([row.public_id])).toMatchObject([
      { staged_of: null, put_off_until: new Date(row.deliver_ms ?? 0) },
    ]);
    await forget();
  });

  it("says which version the tables have, and from which version on they have all that it writes to", async () => {
    const { rows } = await pool.query(statement("postgres: version"));
    expect(rows).toEqual([{ max: (await migrate(pool)).version }]);
    const empty = quietPool({ connectionString: await freshDatabase() });
    onTestFinished(() => empty.end());
    await empty.query("drop schema posthorn cascade; create schema posthorn");
    const folder = new URL("../../library/src/stores/postgres/schema/migrations/", import.meta.url);
    const files = readdirSync(folder).toSorted();
    const isThere = "select to_regclass('posthorn.later') is not null as found";
    for (const file of files.slice(0, FIRST_VERSION)) {
      expect((await empty.query(isThere)).rows).toEqual([{ found: false }]);
      await empty.query(readFileSync(new URL(file, folder), "utf8"));
    }
    for (const { row } of vectors.cases) {
      await empty.query(statement("postgres: publish once"), [
        ...parametersOf({ ...row, public_id: `once-${row.public_id}` }),
        Buffer.from(row.content_hash, "hex"),
      ]);
      await publish(row, empty);
    }
  });

  it("is delivered as what our own sender published, in order, and later where it says so", async () => {
    const { landed, deliver } = await openLanding(store);
    const sender = createSender({ store });
    const row = { ...(vectors.cases[0]?.row as OutboxRow), key: "customer-7" };
    const now = Date.now();
    for (let n = 0; n < 6; n++) {
      if (n % 2 === 0) {
        const parameters = parametersOf({ ...row, public_id: `foreign-${n}`, event_ms: now });
        await pool.query(statement("postgres: publish"), parameters);
      } else {
        await sender.publish({ id: `own-${n}`, type: "order.placed", key: "customer-7", data: {} });
      }
    }
    await deliver();
    expect(landed.map(({ id }) => id)).toEqual([
      "foreign-0",
      "own-1",
      "foreign-2",
      "own-3",
      "foreign-4",
      "own-5",
    ]);
    expect(new Set(landed.map(({ key }) => key))).toEqual(new Set(["customer-7"]));
    // By the database's clock, which is this machine's.
    const due = Date.now() + 1500;
    const later = parametersOf({ ...row, public_id: "later", event_ms: now });
    await pool.query(statement("postgres: publish later"), [...later, new Date(due)]);
    for (let tries = 0; landed.length < 7 && tries < 300; tries++) {
      await deliver();
      if (landed.length === 7) expect(Date.now()).toBeGreaterThanOrEqual(due);
      else await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(landed.at(-1)?.id).toBe("later");
  });

  const why = "no Python with psycopg2 here: apt-get install python3-psycopg2, or set POSTHORN_PYTHON";
  it.skipIf(python === undefined)(
    `the Python example publishes with its order, and nothing where the order is rolled back${python === undefined ? ` (${why})` : ""}`,
    async () => {
      await pool.query("create table orders (number int primary key, customer text not null)");
      const { landed, deliver } = await openLanding(store);
      const printed = await runExample(python as string, ["postgres.py"], { DATABASE_URL: url });
      await deliver();
      expect(printed).toHaveLength(4);
      expect(printed[3]).toBe("the card was declined");
      expect(landed.map(({ id }) => id)).toEqual(printed.slice(0, 3));
      expect(landed.map(({ body }) => (JSON.parse(body) as { data: unknown }).data)).toEqual([
        { number: 1 },
        { number: 2 },
        { number: 3 },
      ]);
      expect(landed.every(({ type, key }) => type === "order.placed" && key === "customer-7")).toBe(true);
      expect((await pool.query("select number from orders order by number")).rows).toHaveLength(3);
    },
  );
});
