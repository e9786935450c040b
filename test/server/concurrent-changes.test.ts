import { migrate as migratePostgres, postgresStore } from "posthorn/postgres";
import { migrate as migrateSqlite, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import type { ServerOutbox } from "../../server/src/parts.js";
import { SERVER_MIGRATIONS as POSTGRES_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { SERVER_MIGRATIONS as SQLITE_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { sqliteRegistry } from "../../server/src/store/sqlite/registry.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";
import { createDatabaseFile } from "../sqlite/database-file.js";
import { benchOf, closeBenches } from "./api-bench.js";
import type { ApiBench } from "./api-bench.js";

// What two operators change at the same moment, each on a node of their own.

const seal = { seal: (secret: string) => secret, open: (sealed: string) => sealed };
const PAIRS = 40;
const closes: (() => Promise<unknown> | void)[] = [];
afterAll(async () => {
  await closeBenches();
  for (const close of closes) await close();
});

type Nodes = readonly [ApiBench, ApiBench];

async function postgresNodes(): Promise<Nodes> {
  const url = await freshDatabase();
  const node = async (): Promise<ApiBench> => {
    const pool = quietPool({ connectionString: url, max: 5 });
    closes.push(() => pool.end());
    await migratePostgres(pool);
    await migratePostgres(pool, { set: { name: "server", migrations: POSTGRES_MIGRATIONS } });
    return benchOf({
      registry: postgresRegistry(pool, "posthorn", seal),
      outbox: postgresStore({ client: pool }),
      clock: createFakeClock({ at: Date.now() }),
    });
  };
  return [await node(), await node()];
}

async function sqliteNodes(): Promise<Nodes> {
  const file = createDatabaseFile();
  closes.push(() => file.remove());
  const node = async (): Promise<ApiBench> => {
    const db = file.open();
    await migrateSqlite(db);
    await migrateSqlite(db, { set: { name: "server", migrations: SQLITE_MIGRATIONS } });
    const clock = createFakeClock({ at: Date.now() });
    const outbox = sqliteStore({ db, clock }) as unknown as ServerOutbox;
    return benchOf({ registry: sqliteRegistry(db, seal), outbox, clock });
  };
  return [await node(), await node()];
}

const numbers = Array.from({ length: PAIRS }, (_, index) => index);
const OLD = "whsec_bGVha2VkIGxlYWtlZCBsZWFrZWQgbGVha2Vk";
const NEW = "whsec_cm90YXRlZCByb3RhdGVkIHJvdGF0ZWQh";

describe.each([
  ["Postgres", postgresNodes],
  ["SQLite", sqliteNodes],
])("of two changes at once on %s", async (_name, open) => {
  const nodes = await open();
  const [here, there] = nodes.map((node) => node.client()) as [
    ReturnType<ApiBench["client"]>,
    ReturnType<ApiBench["client"]>,
  ];

  it(`both hold where they name different fields of a source, in ${PAIRS} of ${PAIRS} pairs`, async () => {
    const kept = await Promise.all(
      numbers.map(async (number) => {
        const name = `pair-${number}`;
        await here.sources.create({ name, scheme: "stripe", secrets: [OLD] });
        await Promise.all([
          here.sources.update(name, { secrets: [NEW] }),
          there.sources.update(name, { forwardHeaders: ["x-trace"] }),
        ]);
        const after = await nodes[0].parts.registry.readSource(name);
        return after?.secrets[0] === NEW && after.forwardHeaders[0] === "x-trace";
      }),
    );
    expect(kept.filter(Boolean)).toHaveLength(PAIRS);
  });

  it("the second is checked against what the first has left", async () => {
    for (const number of numbers.slice(0, 10)) {
      const name = `scheme-${number}`;
      await here.sources.create({ name, scheme: "stripe", secrets: [OLD], options: { toleranceS: 60 } });
      await Promise.all([
        here.sources.update(name, { scheme: "vercel", secrets: ["long enough to be a secret"] }),
        there.sources.update(name, { windowS: 3_000_000 }),
      ]);
      // Options of the scheme that the first has replaced would make the source unusable.
      expect(await nodes[0].parts.registry.readSource(name)).toMatchObject({
        scheme: "vercel",
        secrets: ["long enough to be a secret"],
        options: {},
        windowS: 3_000_000,
      });
    }
  });

  it(`both hold where they name different fields of an endpoint, in ${PAIRS} of ${PAIRS} pairs`, async () => {
    const kept = await Promise.all(
      numbers.map(async (number) => {
        const id = `ep_${number}`;
        await here.endpoints.create({ id, url: "https://example.com/", types: ["none"], dead: "park" });
        await Promise.all([
          here.endpoints.update(id, { secrets: [NEW], dead: null }),
          there.endpoints.update(id, { maxInFlight: 3 }),
        ]);
        const { endpoints } = nodes[0].parts.sender;
        const [after, secrets] = await Promise.all([endpoints.get(id), endpoints.secretsOf(id)]);
        // Version 1 and two changes: a call that wrote twice would show a half of itself to others.
        return (
          secrets?.[0] === NEW && after?.maxInFlight === 3 && after.dead === undefined && after.version === 3
        );
      }),
    );
    expect(kept.filter(Boolean)).toHaveLength(PAIRS);
  });

  it(`never both remove a full token where these were the last two, in ${PAIRS} rounds`, async () => {
    const { registry } = nodes[0].parts;
    const full = async (): Promise<readonly string[]> =>
      (await registry.listTokens({ limit: 100 })).filter(({ scope }) => scope === "full").map(({ id }) => id);
    const left: number[] = [];
    for (let round = 0; round < PAIRS; round++) {
      const [one, two] = (await full()) as [string, string];
      const results = await Promise.allSettled([
        registry.removeToken(one, new Date()),
        nodes[1].parts.registry.removeToken(two, new Date()),
      ]);
      expect(
        results.map((result) => (result.status === "fulfilled" ? result.value : "failed")).toSorted(),
      ).toEqual(["last_full", "removed"]);
      left.push((await full()).length);
      await nodes[0].token("full");
    }
    expect(new Set(left)).toEqual(new Set([1]));
  });
});
