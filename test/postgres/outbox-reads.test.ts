import { postgresStore } from "posthorn/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

// Plans are kept with connections. Those that were made just after a vacuum had found the tables empty know of one row in
// each; a minute later there are thousands. All runs on one connection, so that its plans are those, and without autovacuum,
// which would have them made again.

const EVENTS = 4000;
const BATCH = 500;
// What an event may cost, however many there are: rows of a dozen tables, each looked at a few times.
const MOST_ROWS = 20;

const pool = quietPool({ connectionString: await freshDatabase(), max: 1 });
const store = postgresStore({ client: pool });
const run = { maxEvents: 8, maxBytes: 1_000_000 };
const request = {
  worker: "w1",
  limit: 100,
  leaseMs: 60_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run,
  alone: false,
};

afterAll(() => pool.end());

/** Of each two events one has a key, and some share it. */
async function publish(from: number, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) =>
    eventOf({ id: `e${from + n}`, key: n % 2 === 0 ? undefined : `k${(from + n) % 999}` }),
  );
  await store.append(await Promise.all(events));
}

async function sequence(): Promise<void> {
  while ((await store.sequence()).more);
}

async function acknowledge(claims: readonly Claim[]): Promise<void> {
  await store.settle({
    ...request,
    settlements: claims.map((claim) => settlementOf(claim, { acknowledged: claim.run.length })),
  });
}

/**
 * How many rows of tables were read meanwhile. Index entries of dead rows are not counted: a transaction in another
 * database of the same server keeps them for as long as it lasts, and other tests have long ones.
 */
async function rowsRead(work: () => Promise<void>): Promise<number> {
  const before = await read();
  await work();
  return (await read()) - before;
}

async function read(): Promise<number> {
  await pool.query("select pg_stat_force_next_flush()");
  const { rows } = await pool.query<{ n: string }>(`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as n from pg_stat_user_tables`);
  return Number(rows[0]?.n);
}

let rowsToPublish = 0;

beforeAll(async () => {
  const { rows } = await pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'posthorn'",
  );
  for (const { name } of rows) {
    await pool.query(`alter table posthorn."${name}" set (autovacuum_enabled = off)`);
  }
  await store.addEndpoint(endpointFor({ maxInFlight: 1000 }));
  await publish(0, 8);
  await sequence();
  const { claims } = await store.claim(request);
  await acknowledge(claims);
  await pool.query(`
    truncate posthorn.event, posthorn.attempt, posthorn.loose_attempt, posthorn.lane, posthorn.lane_state,
      posthorn.delivery, posthorn.loose_delivery;
    update posthorn.outbox_config set mark = gen_random_uuid()`);
  await pool.query("vacuum analyze");
  // Each statement is planned now. What was settled before is not settled again.
  await store.claim(request);
  await acknowledge(claims);
  await store.extend("w1", claims, 60_000);
  await store.release("w1", []);
  await sequence();
  rowsToPublish = await rowsRead(async () => {
    for (let from = 100; from < 100 + EVENTS; from += BATCH) await publish(from, BATCH);
    await sequence();
  });
});

describe("by plans that were made when a vacuum had found nothing, an event costs", () => {
  it("as many rows to publish and to sequence as any other", () => {
    expect(rowsToPublish / EVENTS).toBeLessThan(MOST_ROWS);
  });

  it("as many rows to deliver as any other", async () => {
    let delivered = 0;
    const rows = await rowsRead(async () => {
      for (;;) {
        const { claims } = await store.claim(request);
        if (claims.length === 0) break;
        await acknowledge(claims);
        delivered += claims.reduce((sum, claim) => sum + claim.run.length, 0);
      }
    });
    expect(delivered).toBe(EVENTS);
    expect(rows / EVENTS).toBeLessThan(MOST_ROWS);
  });

  it("as many rows to extend its lease and to give it back as any other", async () => {
    await publish(10_000, 1000);
    await sequence();
    const { claims } = await store.claim(request);
    expect(claims).toHaveLength(request.limit);
    const extended = await rowsRead(async () => {
      expect(await store.extend("w1", claims, 60_000)).toEqual(claims.map(() => true));
    });
    expect(extended / claims.length).toBeLessThan(MOST_ROWS);
    const released = await rowsRead(async () => {
      expect(await store.release("w1", [])).toBe(claims.length);
    });
    expect(released / claims.length).toBeLessThan(MOST_ROWS);
  });
});
