import type { SecretSeal } from "posthorn";
import { migrate as migratePostgres } from "posthorn/postgres";
import { migrate as migrateSqlite } from "posthorn/sqlite";
import { afterAll, describe, expect, it } from "vitest";
import type { Registry } from "../../server/src/store/registry.js";
import type { RejectedRecord } from "../../server/src/store/rejected-request.js";
import type { SessionRecord } from "../../server/src/store/session.js";
import type { SourceRecord } from "../../server/src/store/source.js";
import type { TokenRecord } from "../../server/src/store/token.js";
import { SERVER_MIGRATIONS as POSTGRES_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { SERVER_MIGRATIONS as SQLITE_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { sqliteRegistry } from "../../server/src/store/sqlite/registry.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";
import { createDatabaseFile } from "../sqlite/database-file.js";

// Not a seal: a mark that shows what was sealed and what was not.
const seal: SecretSeal = {
  seal: (secret) => `sealed:${Buffer.from(secret).toString("base64")}`,
  open(sealed) {
    if (!sealed.startsWith("sealed:")) throw new Error("sealed under another key");
    return Buffer.from(sealed.slice(7), "base64").toString();
  },
};

/** Two nodes on one database, and its tables as text. */
interface Bench {
  readonly nodes: readonly [Registry, Registry];
  /** Everything that the tables hold. */
  dump(): Promise<string>;
  spoilSecrets(name: string): Promise<void>;
  reset(): Promise<void>;
}

async function postgresBench(): Promise<Bench> {
  const url = await freshDatabase();
  const pools = [
    quietPool({ connectionString: url, max: 5 }),
    quietPool({ connectionString: url, max: 5 }),
  ] as const;
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));
  const [host] = pools;
  await migratePostgres(host, { set: { name: "server", migrations: POSTGRES_MIGRATIONS } });
  const dump = async (table: string): Promise<unknown> =>
    (await host.query(`select to_json(${table}) from posthorn.${table}`)).rows;
  return {
    nodes: [postgresRegistry(pools[0], "posthorn", seal), postgresRegistry(pools[1], "posthorn", seal)],
    dump: async () =>
      JSON.stringify(
        await Promise.all(["source", "token", "session", "rejected", "probe"].map((table) => dump(table))),
      ),
    spoilSecrets: async (name) => {
      await host.query(`update posthorn.source set secrets = '["other"]' where name = $1`, [name]);
    },
    reset: async () => {
      await host.query(
        "truncate posthorn.source, posthorn.token, posthorn.session, posthorn.rejected, posthorn.probe",
      );
    },
  };
}

async function sqliteBench(): Promise<Bench> {
  const file = createDatabaseFile();
  afterAll(() => file.remove());
  const handles = [file.open(), file.open()] as const;
  const [host] = handles;
  host.pragma("journal_mode = wal");
  await migrateSqlite(host, { set: { name: "server", migrations: SQLITE_MIGRATIONS } });
  const tables = ["source", "token", "session", "rejected", "probe"].map((table) => `posthorn_${table}`);
  return {
    nodes: [sqliteRegistry(handles[0], seal), sqliteRegistry(handles[1], seal)],
    dump: () =>
      Promise.resolve(JSON.stringify(tables.map((table) => host.prepare(`select * from ${table}`).all()))),
    spoilSecrets: (name) => {
      host.prepare(`update posthorn_source set secrets = '["other"]' where name = ?`).run(name);
      return Promise.resolve();
    },
    reset: () => {
      for (const table of tables) host.exec(`delete from ${table}`);
      return Promise.resolve();
    },
  };
}

const SOURCE: SourceRecord = {
  name: "billing",
  tenant: "default",
  scheme: "stripe",
  secrets: ["whsec_canary_one", "whsec_canary_two"],
  options: { toleranceS: 60 },
  dedup: { by: "both", content: "json", exclude: ["/sent_at"] },
  windowS: 1_209_600,
  key: { json: "/data/customer" },
  forwardHeaders: ["x-billing-*"],
  createdAt: new Date("2026-03-01T10:00:00.123Z"),
  version: 1,
};

const TOKEN: TokenRecord = {
  id: "tok_1",
  name: "ci",
  scope: "read",
  hash: new Uint8Array(32).fill(7),
  createdAt: new Date("2026-03-01T10:00:00.123Z"),
  expiresAt: new Date("2027-01-01T00:00:00Z"),
  lastUsedAt: undefined,
};

const SESSION: SessionRecord = {
  hash: new Uint8Array(32).fill(9),
  tokenId: TOKEN.id,
  createdAt: new Date("2026-03-01T10:00:00.123Z"),
  expiresAt: new Date("2026-03-01T22:00:00.123Z"),
};

function rejected(id: string, source = "billing"): RejectedRecord {
  return {
    id: `rej_${id}`,
    source,
    receivedAt: new Date("2026-03-01T10:00:00.123Z"),
    method: "POST",
    headers: { "content-type": "application/json", "x-odd": "caf\u00e9 \u0000 \ud800" },
    body: Uint8Array.of(0, 255, 1, 254),
    bodyBytes: 5_000_000_000,
    code: "signature_mismatch",
    message: "No signature matches.",
    diagnosis: ["The body was changed.", "é"],
    whole: { url: "/in/billing?token=canary", headers: { authorization: "canary" }, rawHeaders: ["a", "b"] },
  };
}

function received(id: string, atMs: number): RejectedRecord {
  return { ...rejected(id), receivedAt: new Date(atMs) };
}

describe.each([
  ["Postgres", postgresBench],
  ["SQLite", sqliteBench],
])("the registry on %s", async (_name, open) => {
  const bench = await open();
  const [one, two] = bench.nodes;

  describe("sources", () => {
    it("come back as they were added, on every node", async () => {
      await bench.reset();
      expect(await one.addSource(SOURCE)).toBe(true);
      expect(await two.readSource("billing")).toEqual(SOURCE);
      expect(await two.readSource("other")).toBeUndefined();
    });

    it("have their secrets sealed in the database", async () => {
      await bench.reset();
      await one.addSource(SOURCE);
      expect(await bench.dump()).not.toContain("canary");
      expect(await bench.dump()).toContain("sealed:");
    });

    it("are not added over another of the same name", async () => {
      await bench.reset();
      const added = await Promise.all([one.addSource(SOURCE), two.addSource({ ...SOURCE, tenant: "other" })]);
      expect(added.filter(Boolean)).toHaveLength(1);
    });

    it("are changed in part, and their version grows", async () => {
      await bench.reset();
      await one.addSource(SOURCE);
      const changed = await one.changeSource("billing", () => ({ windowS: 5, key: undefined }));
      expect(changed).toEqual({ ...SOURCE, windowS: 5, key: undefined, version: 2 });
      expect(await two.readSource("billing")).toEqual(changed);
      expect(await one.changeSource("other", () => ({ windowS: 5 }))).toBeUndefined();
    });

    it("lose no change when many are made at once", async () => {
      await bench.reset();
      await one.addSource(SOURCE);
      const options = Array.from({ length: 5 }, (_, index) => ({ forwardHeaders: [`x-${index}`] }));
      await Promise.all([
        ...options.map((change) => one.changeSource("billing", () => change)),
        two.changeSource("billing", () => ({ windowS: 77 })),
        two.changeSource("billing", () => ({ tenant: "acme" })),
      ]);
      const after = await one.readSource("billing");
      expect(after).toMatchObject({ windowS: 77, tenant: "acme", version: 8, secrets: SOURCE.secrets });
      expect(after?.forwardHeaders).toHaveLength(1);
    });

    it("whose secrets cannot be opened are there without them, and stop no other", async () => {
      await bench.reset();
      await one.addSource(SOURCE);
      await one.addSource({ ...SOURCE, name: "other" });
      await bench.spoilSecrets("billing");
      const [first, second] = await one.listSources({ limit: 10 });
      expect(first).toMatchObject({ name: "billing", secrets: [], unopened: "sealed under another key" });
      expect(second?.secrets).toEqual(SOURCE.secrets);
    });

    it("keep sealed secrets that cannot be opened through a change, and get new ones", async () => {
      await bench.reset();
      await one.addSource(SOURCE);
      await bench.spoilSecrets("billing");
      await one.changeSource("billing", () => ({ windowS: 9 }));
      expect(await bench.dump()).toContain("other");
      const healed = await one.changeSource("billing", () => ({ secrets: ["new"] }));
      expect(healed).toMatchObject({ secrets: ["new"], windowS: 9 });
      expect(healed?.unopened).toBeUndefined();
      expect((await one.readSource("billing"))?.secrets).toEqual(["new"]);
    });

    it("are listed in the order of their names, page by page", async () => {
      await bench.reset();
      for (const name of ["b", "a-b", "a_b", "a", "0"]) await one.addSource({ ...SOURCE, name });
      const first = await one.listSources({ limit: 2 });
      const rest = await one.listSources({ limit: 10, after: first[1]?.name });
      expect([...first, ...rest].map(({ name }) => name)).toEqual(["0", "a", "a-b", "a_b", "b"]);
    });

    it("have a version together that changes with every change, and with nothing else", async () => {
      await bench.reset();
      const versions = [await two.sourcesVersion()];
      for (const step of [
        () => one.addSource(SOURCE),
        () => one.changeSource("billing", () => ({ windowS: 5 })),
        () => one.removeSource("billing"),
      ]) {
        await step();
        versions.push(await two.sourcesVersion());
      }
      expect(new Set(versions).size).toBe(4);
      await one.removeSource("billing");
      await one.changeSource("billing", () => ({ windowS: 5 }));
      expect(await two.sourcesVersion()).toBe(versions[3]);
    });

    it("tell the node that changed them, once each, until it stops listening", async () => {
      await bench.reset();
      let told = 0;
      const stop = one.onSourcesChanged?.(() => told++);
      await one.addSource(SOURCE);
      await one.addSource(SOURCE);
      await one.changeSource("billing", () => ({ windowS: 5 }));
      await one.removeSource("billing");
      stop?.();
      await one.addSource(SOURCE);
      expect(told).toBe(3);
    });

    it("take their rejected requests with them", async () => {
      await bench.reset();
      await one.addSource(SOURCE);
      await one.recordRejected([rejected("1"), rejected("2", "other")], 10);
      expect(await one.removeSource("billing")).toBe(true);
      expect(await one.removeSource("billing")).toBe(false);
      expect((await one.listRejected({ limit: 10 })).map(({ id }) => id)).toEqual(["rej_2"]);
    });
  });

  describe("old rejected requests", () => {
    it("are removed oldest first, up to the limit, and younger ones stay", async () => {
      await bench.reset();
      await one.recordRejected(
        [received("1", 1000), received("2", 2000), received("3", 3000), received("4", 9000)],
        10,
      );
      expect(await two.removeRejected(new Date(5000), 2)).toBe(2);
      expect((await one.listRejected({ limit: 10 })).map(({ id }) => id)).toEqual(["rej_4", "rej_3"]);
      expect(await two.removeRejected(new Date(5000), 2)).toBe(1);
      expect(await two.removeRejected(new Date(5000), 2)).toBe(0);
      expect((await one.listRejected({ limit: 10 })).map(({ id }) => id)).toEqual(["rej_4"]);
    });
  });

  describe("tokens", () => {
    it("are found by their hash alone, as they were added", async () => {
      await bench.reset();
      await one.addToken(TOKEN);
      expect(await two.findToken(TOKEN.hash)).toEqual(TOKEN);
      expect(await two.findToken(new Uint8Array(32))).toBeUndefined();
    });

    it("of many nodes that start at once on an empty database, one adds the first", async () => {
      await bench.reset();
      const tries = Array.from({ length: 8 }, (_, index) =>
        bench.nodes[index % 2 === 0 ? 0 : 1].addFirstToken({
          ...TOKEN,
          id: `tok_${index}`,
          hash: new Uint8Array(32).fill(index),
        }),
      );
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
      expect(await one.listTokens({ limit: 10 })).toHaveLength(1);
    });

    it("are not added as the first where there is another, and again once there is none", async () => {
      await bench.reset();
      await one.addToken(TOKEN);
      const other = { ...TOKEN, id: "tok_2", hash: new Uint8Array(32).fill(8) };
      expect(await one.addFirstToken(other)).toBe(false);
      expect(await one.removeToken("tok_1", TOKEN.createdAt)).toBe("removed");
      expect(await one.removeToken("tok_1", TOKEN.createdAt)).toBe("unknown");
      expect(await one.addFirstToken(other)).toBe(true);
    });

    it("are listed in the order of their ids", async () => {
      await bench.reset();
      for (const id of ["tok_c", "tok_a", "tok_b"])
        await one.addToken({ ...TOKEN, id, hash: new TextEncoder().encode(id) });
      const first = await one.listTokens({ limit: 2 });
      const rest = await one.listTokens({ limit: 2, after: first[1]?.id });
      expect([...first, ...rest].map(({ id }) => id)).toEqual(["tok_a", "tok_b", "tok_c"]);
    });

    it("know when they were last used, to the minute", async () => {
      await bench.reset();
      await one.addToken(TOKEN);
      const at = new Date("2026-04-01T12:00:00Z");
      await one.touchToken("tok_1", at);
      await one.touchToken("tok_1", new Date(at.getTime() + 59_000));
      expect((await one.findToken(TOKEN.hash))?.lastUsedAt).toEqual(at);
      await one.touchToken("tok_1", new Date(at.getTime() + 60_000));
      expect((await one.findToken(TOKEN.hash))?.lastUsedAt).toEqual(new Date(at.getTime() + 60_000));
    });
  });

  describe("sessions", () => {
    it("are found on every node by their hash, with their token", async () => {
      await bench.reset();
      await one.addToken(TOKEN);
      await one.addSession(SESSION);
      expect(await two.findSession(SESSION.hash)).toEqual({ session: SESSION, token: TOKEN });
      expect(await two.findSession(TOKEN.hash)).toBeUndefined();
    });

    it("end when they are removed, and with their token", async () => {
      await bench.reset();
      await one.addToken(TOKEN);
      await one.addSession(SESSION);
      expect([await two.removeSession(SESSION.hash), await two.removeSession(SESSION.hash)]).toEqual([
        true,
        false,
      ]);
      await one.addSession(SESSION);
      await one.removeToken(TOKEN.id, TOKEN.createdAt);
      expect(await one.findSession(SESSION.hash)).toBeUndefined();
    });

    it("are swept after their end by the next one", async () => {
      await bench.reset();
      await one.addToken(TOKEN);
      await one.addSession(SESSION);
      const next = { ...SESSION, hash: new Uint8Array(32).fill(10), createdAt: SESSION.expiresAt };
      await one.addSession({ ...next, expiresAt: new Date("2026-03-02T10:00:00.123Z") });
      expect(await one.findSession(SESSION.hash)).toBeUndefined();
      expect(await one.findSession(next.hash)).toBeDefined();
    });
  });

  describe("rejected requests", () => {
    it("come back with their first bytes, one by one", async () => {
      await bench.reset();
      await one.recordRejected([rejected("1")], 10);
      expect(await two.readRejected("rej_1")).toEqual(rejected("1"));
      expect(await two.readRejected("rej_2")).toBeUndefined();
    });

    it("are listed newest first and without bodies, page by page, of one source or of all", async () => {
      await bench.reset();
      await one.recordRejected([rejected("1"), rejected("2", "other"), rejected("3"), rejected("4")], 10);
      const ids = async (page: Parameters<Registry["listRejected"]>[0]): Promise<string[]> =>
        (await one.listRejected(page)).map(({ id }) => id);
      expect(await ids({ limit: 2 })).toEqual(["rej_4", "rej_3"]);
      expect(await ids({ limit: 2, after: "rej_3" })).toEqual(["rej_2", "rej_1"]);
      expect(await ids({ limit: 9, source: "billing" })).toEqual(["rej_4", "rej_3", "rej_1"]);
      expect(await ids({ limit: 9, source: "billing", after: "rej_3" })).toEqual(["rej_1"]);
      expect((await one.listRejected({ limit: 1 }))[0]?.body).toHaveLength(0);
    });

    it("are capped by source: the oldest go, and those of other sources stay", async () => {
      await bench.reset();
      await one.recordRejected([rejected("0", "other")], 3);
      for (let n = 1; n <= 7; n++) await one.recordRejected([rejected(`${n}a`), rejected(`${n}b`)], 3);
      expect((await one.listRejected({ limit: 100 })).map(({ id }) => id)).toEqual([
        "rej_7b",
        "rej_7a",
        "rej_6b",
        "rej_0",
      ]);
    });

    it("may hold a text that no database takes as it is", async () => {
      await bench.reset();
      const odd = { ...rejected("1"), message: "a\0b\ud800", method: "P\0ST" };
      await one.recordRejected([odd], 10);
      expect(await one.readRejected("rej_1")).toMatchObject({
        message: "a\ufffdb\ufffd",
        method: "P\ufffdST",
      });
    });

    it("none at all is nothing to do", async () => {
      await bench.reset();
      await one.recordRejected([], 10);
      expect(await one.listRejected({ limit: 10 })).toEqual([]);
    });
  });

  it("a write probe leaves one row, whatever the number of nodes", async () => {
    await bench.reset();
    await one.probeWrite("node-1");
    await two.probeWrite("node-2");
    expect((await bench.dump()).match(/node-\d/g)).toEqual(["node-2"]);
  });
});

describe("a registry without its tables", () => {
  it("says on both databases that they have to be made", async () => {
    const file = createDatabaseFile();
    await expect(sqliteRegistry(file.open(), seal).sourcesVersion()).rejects.toMatchObject({
      code: "store_not_migrated",
    });
    file.remove();
    const pool = quietPool({ connectionString: await freshDatabase({ migrated: false }) });
    await expect(postgresRegistry(pool, "posthorn", seal).sourcesVersion()).rejects.toMatchObject({
      code: "store_not_migrated",
    });
    await pool.end();
  });

  it("says of a database that is gone that it is unavailable", async () => {
    const pool = quietPool({ connectionString: "postgres://nobody@127.0.0.1:1/none" });
    await expect(postgresRegistry(pool, "posthorn", seal).findToken(new Uint8Array())).rejects.toMatchObject({
      code: "store_unavailable",
    });
    await pool.end();
  });
});
