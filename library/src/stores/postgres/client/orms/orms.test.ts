import { describe, expect, it } from "vitest";
import { postgresStore } from "../../store.js";
import type { Arrival } from "../../../../inbox/inbox-store.js";
import { fromDrizzle } from "./drizzle.js";
import type { DrizzleDatabase, DrizzleSql } from "./drizzle.js";
import { fromKnex } from "./knex.js";
import { fromKysely } from "./kysely.js";
import { fromMikroOrm } from "./mikro-orm.js";
import type { MikroOrmManager } from "./mikro-orm.js";
import type { OrmClient } from "./orm-client.js";
import { splitQuery } from "./orm-query.js";
import { fromPrisma } from "./prisma.js";
import type { PrismaDatabase, PrismaRaw } from "./prisma.js";
import { fromSequelize } from "./sequelize.js";
import { fromTypeOrm } from "./type-orm.js";

// The ORMs themselves run in test/orms. Here stand the ones that are refused, and what is sent to them, as doubles record it.

const unsupported = (why: string | RegExp): unknown =>
  expect.objectContaining({
    code: "store_client_unsupported",
    message: expect.stringMatching(why) as string,
  });

const KIND = Symbol.for("drizzle:entityKind");
const entity = (kind: string): object => ({ constructor: { [KIND]: kind } });
const sql = Object.assign(() => ({}), { param: (value: unknown) => value }) as DrizzleSql;
const drizzleOn = (session: string, dialect = "PgDialect"): DrizzleDatabase<object> =>
  ({ session: entity(session), dialect: entity(dialect) }) as never;

describe("a client without interactive transactions is refused", () => {
  it.each([
    ["Drizzle on neon-http", drizzleOn("NeonHttpSession"), /neon-serverless/],
    ["Drizzle on pg-proxy", drizzleOn("PgRemoteSession"), /sends each statement by itself/],
    ["Drizzle on D1", drizzleOn("SQLiteD1Session", "SQLiteAsyncDialect"), /no inbox on D1/],
  ])("with the reason: %s", (_name, db, why) => {
    expect(() => fromDrizzle(db, sql)).toThrow(unsupported(why));
  });

  it("when its driver says so as a transaction is opened", async () => {
    const db = {
      ...drizzleOn("SomeHttpSession"),
      transaction: () => Promise.reject(new Error("No transactions support in some-http driver")),
    } as unknown as DrizzleDatabase<object>;
    const { handled, accepting } = accept(fromDrizzle(db, sql));
    await expect(accepting).rejects.toEqual(unsupported(/some-http driver/));
    expect(handled).toEqual([]);
  });

  it("when its transactions share one connection with everything else, before a handler has written anything", async () => {
    const shared = drizzleOn("NodePgSession") as unknown as { session: object };
    const db = {
      ...shared,
      transaction: (work: (tx: object) => unknown) => work({ session: shared.session }),
    };
    const { handled, accepting } = accept(fromDrizzle(db as never, sql));
    await expect(accepting).rejects.toEqual(unsupported(/drizzle\(\{ client: new Pool\(\) \}\)/));
    expect(handled).toEqual([]);
  });

  it("when two statements of one transaction run in two, before a handler has written anything", async () => {
    let id = 700;
    const each: OrmClient<object> = {
      orm: "Each",
      begin: (work) => work({}),
      run: () => Promise.resolve([{ xid: String(++id) }]),
      isOpen: () => true,
    };
    const { handled, accepting } = accept(each);
    await expect(accepting).rejects.toEqual(unsupported(/ran in two/));
    expect(handled).toEqual([]);
  });
});

const prismaOn = (provider: string): PrismaDatabase<PrismaRaw> =>
  ({ _activeProvider: provider }) as unknown as PrismaDatabase<PrismaRaw>;
const mikroOn = (platform: string): MikroOrmManager<object> =>
  ({ getPlatform: () => ({ constructor: { name: platform } }) }) as unknown as MikroOrmManager<object>;

describe("a client of another database is refused", () => {
  it("with what to do instead where that is SQLite", () => {
    const adapter = { constructor: { name: "SqliteAdapter" } };
    const kysely = { getExecutor: () => ({ adapter }) };
    const sqlite = drizzleOn("BetterSQLiteSession", "SQLiteSyncDialect");
    expect(() => fromDrizzle(sqlite, sql)).toThrow(unsupported(/drizzle\({ client: tx }\)/));
    expect(() => fromKysely(kysely as never, {} as never)).toThrow(unsupported(/\.compile\(\)/));
    const knex = { client: { config: { client: "better-sqlite3" } } };
    expect(() => fromKnex(knex as never)).toThrow(unsupported(/toNative\(\)/));
  });

  it("with its name elsewhere", () => {
    const sequelize = { getDialect: () => "mysql" };
    expect(() => fromSequelize(sequelize as never)).toThrow(unsupported("mysql"));
    expect(() => fromTypeOrm({ options: { type: "mariadb" } } as never)).toThrow(unsupported("mariadb"));
  });

  it.each(["sqlite", "mysql", "sqlserver", "mongodb", "cockroachdb"])(
    "with its provider: Prisma on %s",
    (provider) => {
      expect(() => fromPrisma(prismaOn(provider))).toThrow(
        unsupported(`its dialect is ${provider}; expected Postgres`),
      );
    },
  );

  it.each([
    "SqlitePlatform",
    "BetterSqlitePlatform",
    "LibSqlPlatform",
    "MySqlPlatform",
    "MariaDbPlatform",
    "MsSqlPlatform",
    "OraclePlatform",
    "MongoPlatform",
  ])("with its platform: MikroORM on %s", (platform) => {
    expect(() => fromMikroOrm(mikroOn(platform))).toThrow(
      unsupported(`its dialect is ${platform}; expected Postgres`),
    );
  });

  it("and one of Postgres is taken, whatever a bundler has called it", () => {
    expect(fromPrisma(prismaOn("postgresql")).orm).toBe("Prisma");
    expect(fromPrisma(prismaOn("postgres")).orm).toBe("Prisma");
    for (const platform of ["PostgreSqlPlatform", "a", ""])
      expect(fromMikroOrm(mikroOn(platform)).orm).toBe("MikroORM");
  });
});

describe("what is sent to an ORM", () => {
  it("has its parameters in the order of the text, for those that number them anew", () => {
    const query = {
      text: "select $2::text, $1::text, $2::int4 where $10 = 1",
      params: "a b c d e f g h i j".split(" "),
      script: false,
    };
    expect(splitQuery(query)).toEqual({
      strings: ["select ", "::text, ", "::text, ", "::int4 where ", " = 1"],
      values: ["b", "a", "b", "j"],
    });
    const script = { text: "select $$ costs $1 $$", params: [], script: true };
    expect(splitQuery(script)).toEqual({ strings: [script.text], values: [] });
  });

  it("is escaped for Knex, which takes every question mark for a parameter", async () => {
    const asked: unknown[] = [];
    const knex = { raw: (...args: unknown[]) => Promise.resolve(asked.push(args)) };
    const query = { text: "select $1::jsonb ? 'a', $1", params: ["{}"], script: false };
    await fromKnex(knex as never).run(query, undefined);
    expect(asked).toEqual([[String.raw`select ?::jsonb \? 'a', ?`, ["{}", "{}"]]]);
  });

  it("tells Prisma how long to wait for a connection, and not to end the transaction by itself", async () => {
    const told: unknown[] = [];
    const prisma = {
      $transaction: (_work: unknown, options: unknown) => Promise.resolve(told.push(options)),
    } as unknown as PrismaDatabase<PrismaRaw>;
    await fromPrisma(prisma).begin(() => Promise.resolve(), { acquireMs: 700 });
    expect(told).toEqual([{ maxWait: 700, timeout: 172_800_000, isolationLevel: "ReadCommitted" }]);
  });
});

/** An accept on a client, and what its handler was called with. */
function accept(client: OrmClient<object>): {
  readonly handled: object[];
  readonly accepting: Promise<unknown>;
} {
  const handled: object[] = [];
  const arrival: Arrival = {
    tenant: "default",
    source: "stripe",
    id: "evt_1",
    idPreview: undefined,
    type: "invoice.paid",
    eventAt: undefined,
    body: new Uint8Array(),
    bodyHash: new Uint8Array(32),
    headers: "{}",
    windowS: undefined,
  };
  const work = (tx: object): { readonly outcome: "success" } => {
    handled.push(tx);
    return { outcome: "success" };
  };
  const limits = { acquireMs: 1000, signal: new AbortController().signal };
  return { handled, accepting: postgresStore({ client }).accept(arrival, work, limits) };
}
