import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chance } from "../chance.js";
import { createChance } from "../chance.js";
import { CRASH_SEED, CRASH_TIMES } from "./campaign.js";
import type { Answer } from "./endpoint-server.js";
import type { Host } from "./host.js";
import type { OutboxDatabase } from "./outbox-database.js";
import { OutboxLoad } from "./outbox-load.js";
import type { OutboxRunOptions } from "./outbox-run.js";
import { OutboxRun } from "./outbox-run.js";
import { publish } from "./outbox-traffic.js";
import { expectKept } from "./run.js";
import type { Supervisor } from "./supervisor.js";

const KILLS = 9 * CRASH_TIMES;
const LONGEST_LIFE_MS = 400;
const LEASE_MS = 8000;
// Without a tight limit: a busy machine may take its time for what the lease allows at once.
const SLACK_MS = 60_000;
const TIMEOUT_MS = 240_000 + KILLS * 5000;
const POISON = "killer";

type Case = (run: OutboxRun, chance: Chance) => Promise<void>;

/** What is done to workers under load. Each case has a database of its own, and they run side by side: most of their time is leases that end. */
export function tryWorkers(name: OutboxDatabase["name"], open: () => Promise<OutboxDatabase>): void {
  const databases: OutboxDatabase[] = [];
  beforeAll(async () => {
    for (const _ of CASES) databases.push(await open());
  });
  afterAll(() => Promise.all(databases.map((database) => database.close())));

  describe.concurrent(`workers on ${name}`, () => {
    const named = CASES.map((each) => [each.promise, each] as const);
    it.each(named)("%s", { timeout: TIMEOUT_MS }, async (_promise, { scope, options, work }) => {
      const database = databases.pop();
      if (database === undefined) throw new Error("each case has a database of its own");
      const run = await OutboxRun.open({ database, scope, ...options });
      const chance = createChance(CRASH_SEED);
      run.server.answer = () => ({ status: chance.below(12) === 0 ? 503 : 204, afterMs: chance.below(10) });
      try {
        await work(run, chance);
      } finally {
        await run.close();
      }
    });
  });
}

/** Kills anybody at any moment. */
const killAnybody: Case = async (run, chance) => {
  await run.work(0);
  await run.work(1);
  const load = new OutboxLoad(run, chance);
  for (let kill = 1; kill <= KILLS; kill++) {
    await load.published(10);
    await sleep(chance.below(LONGEST_LIFE_MS));
    await chance.pick([run.publisher, ...run.workers]).kill();
  }
  await load.stop();
  await run.drained();
  const report = await run.end();
  expectKept(report, `${KILLS} kills, seed ${CRASH_SEED}`);
  expect(run.ends).toHaveLength(KILLS);
  // Kills that met nobody would prove nothing.
  expect(run.server.repeated).toBeGreaterThan(0);
  expect(report.counts.get("publish.unknown")).toBeGreaterThan(0);
};

/** Answers for which lanes are held most of the time. */
function slowly(chance: Chance): () => Answer {
  return () => ({ status: chance.below(12) === 0 ? 503 : 204, afterMs: 50 + chance.below(100) });
}

/** Kills a worker that holds lanes, and looks at exactly those. */
const killWorker: Case = async (run, chance) => {
  run.server.answer = slowly(chance);
  const load = new OutboxLoad(run, chance);
  const [first, second] = run.workers as [Supervisor, Supervisor];
  await first.host();
  const worker = await holder(run);
  await second.host();
  const held = await frozenHolding(run, await first.host(), worker);
  await first.kill();
  const killedAt = performance.now();
  const tookMs = await takenOver(run, worker, killedAt);
  console.log(
    `${run.database.name}: ${held} lanes of a killed worker moved again after ${Math.round(tookMs)} ms, lease ${LEASE_MS} ms`,
  );
  await load.stop();
  await run.drained();
  expectKept(await run.end(), `a worker killed, seed ${CRASH_SEED}`);
};

/** Stops a worker until its lease is over and another has done its work; then lets it go on. */
const freezeWorker: Case = async (run, chance) => {
  run.server.answer = slowly(chance);
  const load = new OutboxLoad(run, chance);
  const [first, second] = run.workers as [Supervisor, Supervisor];
  const frozen = await first.host();
  const worker = await holder(run);
  await frozenHolding(run, frozen, worker);
  run.fault("worker frozen");
  const frozenAt = performance.now();
  await second.host();
  await takenOver(run, worker, frozenAt);
  frozen.freeze(false);
  run.fault("worker thawed");
  // It settles what it has held, goes on, and is one of two.
  await load.published(40);
  await load.stop();
  await run.drained();
  const report = await run.end();
  expectKept(report, `a worker frozen past its lease, seed ${CRASH_SEED}`);
  expect(run.server.repeated).toBeGreaterThan(0);
};

/**
 * Stops a worker between the look at its lease and the first byte, until the event has expired and another has passed it
 * over: what it would send now comes behind its successor.
 */
const stopBeforeSending: Case = async (run, chance) => {
  const given = (ref: string) => ({ ref: `${run.scope}-${ref}`, chance, key: "k" });
  const [first, second] = run.workers as [Supervisor, Supervisor];
  const stopped = await first.host();
  await stopped.arm({ point: "post.before_send", nth: 1, stops: true });
  await publish(run, "fleeting", given("fleeting"));
  await stopped.stopped;
  run.fault("worker stopped before it sent");
  await publish(run, "given", given("behind"));
  await second.host();
  await run.drained();
  stopped.freeze(false);
  run.fault("worker goes on");
  // It ends when nothing that it had begun is under way.
  await stopped.terminate();
  expectKept(await run.end(), `a worker stopped before it sent, seed ${CRASH_SEED}`);
  expect(run.server.receipts.map(({ ref }) => ref)).toEqual([`${run.scope}-behind`]);
};

/** Deploys again and again. */
const terminateWorkers: Case = async (run, chance) => {
  const load = new OutboxLoad(run, chance);
  await run.work(0);
  await run.work(1);
  for (let n = 0; n < 4 * CRASH_TIMES; n++) {
    await load.published(15);
    await sleep(chance.below(100));
    const host = await run.workers[n % 2]?.host();
    expect(await host?.terminate()).toEqual({ signal: null, point: undefined });
  }
  await load.stop();
  await run.drained();
  const refused = run.server.receipts.length;
  const report = await run.end();
  expectKept(report, `workers terminated, seed ${CRASH_SEED}`);
  expect(report.counts.has("attempt.lapsed")).toBe(false);
  // Every receipt is an attempt that was recorded: nothing was sent twice that had not been refused.
  expect(refused).toBe(report.counts.get("attempt_row.ok"));
  expect(report.counts.get("fault.end of a dispatcher")).toBe(4 * CRASH_TIMES);
};

/** An event whose sending ends the process, in the middle of others. */
const poison: Case = async (run, chance) => {
  // Innocent ones are under way whenever it kills.
  run.server.answer = () => ({ status: 204, afterMs: 300 });
  const given = (ref: string, key: string) => ({ ref: `${run.scope}-${ref}`, chance, key });
  await publish(run, "given", given(POISON, "p"));
  await publish(run, "given", given("behind", "p"));
  for (const key of ["a", "b", "c", "d", "e", "f"]) await publish(run, "given", given(`innocent${key}`, key));
  await publish(run, "given", given("loose", ""));
  await run.work(0);
  await run.drained(TIMEOUT_MS / 2);
  const report = await run.end();
  expectKept(report, `a poison event, seed ${CRASH_SEED}`);
  const { ended, deliveries } = await run.database.read();
  expect(ended.map(({ because, state }) => `${state} ${because}`)).toEqual(["dead lease_expired"]);
  // Itself and the one behind it, for which its lane waits; nobody else.
  expect(deliveries).toHaveLength(2);
  // Three times among others and once alone; in a run of two, which says nothing of either, on top.
  expect(new Set(run.ends.map(({ point }) => point))).toEqual(new Set(["poison"]));
  expect([4, 5]).toContain(run.ends.length);
};

const CASES: readonly {
  readonly promise: string;
  readonly scope: string;
  readonly options: Partial<OutboxRunOptions>;
  readonly work: Case;
}[] = [
  {
    promise: "an event that kills its worker ends as dead, and takes no other with it",
    scope: "poison",
    options: { worker: { poison: POISON } },
    work: poison,
  },
  {
    promise: `${KILLS} kills at random of publishers and workers lose nothing and overtake nothing`,
    scope: "random",
    options: { workers: 2 },
    work: killAnybody,
  },
  {
    promise: "the lanes of a worker that is killed move again when its lease has ended",
    scope: "takeover",
    options: { workers: 2 },
    work: killWorker,
  },
  {
    promise: "a worker that stood still past its lease changes nothing that another has done",
    scope: "frozen",
    options: { workers: 2 },
    work: freezeWorker,
  },
  {
    promise:
      "a worker that stood still between its lease and its first byte sends nothing that others have passed over",
    scope: "late",
    options: { workers: 2 },
    work: stopBeforeSending,
  },
  {
    promise: "workers that are told to end send nothing twice, and nobody waits for their leases",
    scope: "terminated",
    // Long enough for no answer of a busy machine to be missed: that would be a second attempt.
    options: { workers: 2, worker: { deadlineMs: 10_000, leaseMs: 30_000 } },
    work: terminateWorkers,
  },
];

/** Waits until somebody holds lanes, and says who. */
async function holder(run: OutboxRun): Promise<string> {
  for (;;) {
    for (const [worker, lanes] of await run.database.leases()) if (lanes >= 2) return worker;
    await sleep(2);
  }
}

/** Freezes a worker while it holds lanes, and says how many: looked at while it runs, they may be settled a moment later. */
async function frozenHolding(run: OutboxRun, host: Host, worker: string): Promise<number> {
  for (;;) {
    host.freeze(true);
    const held = await heldBy(run, worker);
    if (held > 0) return held;
    host.freeze(false);
    await sleep(2);
  }
}

async function heldBy(run: OutboxRun, worker: string): Promise<number> {
  return (await run.database.leases()).get(worker) ?? 0;
}

/** Waits until nothing is leased by a worker any more, and says how long that took. */
async function takenOver(run: OutboxRun, worker: string, since: number): Promise<number> {
  for (;;) {
    const held = await heldBy(run, worker);
    const tookMs = performance.now() - since;
    if (held === 0) return tookMs;
    if (tookMs > LEASE_MS + 1000 + SLACK_MS) throw new Error(`${held} lanes are still leased by ${worker}`);
    await sleep(20);
  }
}
