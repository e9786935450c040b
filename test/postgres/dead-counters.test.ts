import { postgresStore } from "posthorn/postgres";
import { afterAll, expect, it } from "vitest";
import type { Settlement } from "../../library/src/lanes/lane-store.js";
import {
  attemptsOf,
  endpointFor,
  eventOf,
  settlementOf,
} from "../../library/src/testing/conformance/outbox/steps.js";
import { createChance } from "../chance.js";
import type { Chance } from "../chance.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const pool = quietPool({ connectionString: await freshDatabase(), max: 12 });
const codes: string[] = [];
pool.on("connect", (client) => {
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on("errorMessage", ({ code }: { code: string }) => codes.push(code));
});
afterAll(() => pool.end());

const SEED = 7;
const WORKERS = 4;
const ROUNDS = 40;
const DEADLOCK = "40P01";

const store = postgresStore({ client: pool });
const request = { leaseMs: 60_000, run: { maxEvents: 1, maxBytes: 1000 } };

/** A statement that a killed connection was at may have been done or not: both are fine, and are asked again. */
async function whatever(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}

/** Claims, and lets everything die that was claimed. */
async function letDie(name: string, chance: Chance): Promise<void> {
  const asked = {
    worker: name,
    limit: 20,
    of: { kind: "endpoint" } as const,
    inFlight: new Map(),
    alone: false,
    ...request,
  };
  const { claims } = await store.claim(asked);
  const policies = ["halt", "skip"] as const;
  const settlements = claims.map((claim): Settlement => {
    const rest = { state: "dead", because: "exhausted", policy: chance.pick(policies) } as const;
    const died = { status: chance.pick([500, 503, 0]) || undefined };
    const attempts = attemptsOf(claim, { rest }).map((attempt) => Object.assign({}, attempt, died));
    return settlementOf(claim, { rest, attempts });
  });
  await store.settle({ worker: name, ...request, settlements });
}

/** Claims, lets die, redrives and looks, as a node and its operators do. */
async function worker(name: string, seed: number): Promise<void> {
  const chance = createChance(seed);
  for (let round = 0; round < ROUNDS; round++) {
    await whatever(() => letDie(name, chance));
    await whatever(async () => {
      const { items } = await store.deadLetters(
        { limit: 30 },
        { status: chance.pick([500, 503, 0]) || null },
      );
      // Some stay dead.
      await store.redriveAll(items.filter(() => chance.below(3) > 0));
    });
    await whatever(() => store.sequence());
    await whatever(() => store.deadGroups({}));
  }
}

async function killSome(until: { done: boolean }, seed: number): Promise<number> {
  const chance = createChance(seed);
  let killed = 0;
  while (!until.done) {
    await new Promise((resolve) => setTimeout(resolve, 20 + chance.below(60)));
    const { rows } = await pool
      .query<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' limit 1`,
      )
      .catch(() => ({ rows: [] }));
    for (const { pid } of rows) {
      await whatever(() => pool.query("select pg_terminate_backend($1)", [pid]));
      killed += 1;
    }
  }
  return killed;
}

it("after concurrent deaths, redrives and folds, with connections killed in between, the counters are what a recount finds", async () => {
  for (const id of ["ep_a", "ep_b"]) await store.addEndpoint(endpointFor({ id }));
  for (let n = 0; n < 10; n++) {
    const events = await Promise.all(
      Array.from({ length: 20 }, (_, k) =>
        eventOf({ id: `e${n}_${k}`, key: k % 5 === 0 ? undefined : `k${k}` }),
      ),
    );
    await store.append(events);
  }
  await store.sequence();
  const until = { done: false };
  const killing = killSome(until, SEED);
  await Promise.all(Array.from({ length: WORKERS }, (_, n) => worker(`worker_${n}`, SEED + n)));
  until.done = true;
  expect(await killing).toBeGreaterThan(0);
  // How many are dead now is chance; with these, there are some.
  await store.append(await Promise.all(["l1", "l2", "l3"].map((id) => eventOf({ id, key: undefined }))));
  while ((await store.sequence()).more);
  await letDie("last", createChance(SEED));
  const groups = await store.deadGroups({});
  const counted = groups.map(({ endpointId, status, count }) => `${endpointId} ${status ?? 0} ${count}`);
  const { rows } = await pool.query<{ told: string }>(`
    select consumer.public_id || ' ' || coalesce(last_status, 0) || ' ' || count(*) as told
    from posthorn.dead join posthorn.consumer on consumer.id = consumer_id
    where resolved_at is null group by consumer.public_id, last_status`);
  expect(counted.toSorted()).toEqual(rows.map(({ told }) => told).toSorted());
  expect(counted.length).toBeGreaterThan(0);
  expect(codes).not.toContain(DEADLOCK);
}, 120_000);
