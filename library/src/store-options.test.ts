import { describe, expect, it } from "vitest";
import { memoryDedup } from "./stores/memory/dedup/dedup.js";
import { memoryStore } from "./stores/memory/store.js";
import { postgresDedup } from "./stores/postgres/dedup/dedup.js";
import { migrate as migratePostgres } from "./stores/postgres/schema/migrate.js";
import { postgresStore } from "./stores/postgres/store.js";
import { redisDedup } from "./stores/redis/dedup.js";
import { sqliteDedup } from "./stores/sqlite/dedup/dedup.js";
import { endLeases } from "./stores/sqlite/lanes/end-leases.js";
import { migrate as migrateSqlite } from "./stores/sqlite/schema/migrate.js";
import { sqliteStore } from "./stores/sqlite/store.js";

type Make = (options?: unknown) => unknown;
type Run = (client: unknown, options?: unknown) => Promise<unknown>;

const refused = (message: string): object =>
  expect.objectContaining({ code: "store_option_invalid", message }) as object;

const misspelt = (name: string, given: object, meant: string): object =>
  refused(`"${Object.keys(given).join()}" is no option of ${name}; did you mean "${meant}"?`);

const makers: readonly (readonly [string, Make, object, string])[] = [
  ["sqliteStore", sqliteStore as Make, { durabilty: "strict" }, "durability"],
  ["postgresStore", postgresStore as Make, { durabilty: "refuse" }, "durability"],
  ["memoryStore", memoryStore as Make, { enviroment: "test" }, "environment"],
  ["sqliteDedup", sqliteDedup as Make, { scop: "stripe" }, "scope"],
  ["postgresDedup", postgresDedup as Make, { scop: "stripe" }, "scope"],
  ["redisDedup", redisDedup as Make, { claimTtl: 9 }, "claimTtlS"],
  ["memoryDedup", memoryDedup as Make, { maxEntrys: 9 }, "maxEntries"],
];

const runners: readonly (readonly [string, Run, object, string])[] = [
  ["migrate", migrateSqlite as Run, { st: { name: "mine", migrations: [] } }, "set"],
  ["migrate", migratePostgres as Run, { shema: "mine" }, "schema"],
  ["endLeases", endLeases as Run, { waitMS: 9 }, "waitMs"],
];

describe("an option that a store does not know is refused, with the name that was meant", () => {
  it.each(makers)("by %s", (name, make, given, meant) => {
    expect(() => make(given)).toThrow(misspelt(name, given, meant));
  });

  it.each(runners)("by %s", async (name, run, given, meant) => {
    await expect(run({}, given)).rejects.toEqual(misspelt(name, given, meant));
  });

  it("by a claim", async () => {
    const client = { eval: () => Promise.resolve("OK"), defineCommand: () => undefined };
    const ids = redisDedup({ client: client as never });
    await expect(ids.claim("evt_1", { ttlS: 9 } as never)).rejects.toEqual(
      refused('"ttlS" is no option of claim; did you mean "ttl"?'),
    );
  });
});

describe("options that are missing are refused by their own name", () => {
  it.each(makers.filter(([name]) => name !== "memoryStore"))("by %s", (name, make) => {
    expect(() => make()).toThrow(new RegExp(`^The options of ${name} are missing; expected an object of `));
  });
});

it("a pool in the place of options is told as a client that is missing", () => {
  class Pool {
    readonly totalCount = 1;
  }
  expect(() => (postgresStore as Make)(new Pool())).toThrow(/^The client is undefined; expected a Pool/);
});
