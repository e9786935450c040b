import { setTimeout as sleep } from "node:timers/promises";
import type { InvariantName } from "posthorn/testing";
import { createChance } from "../chance.js";
import type { OutboxDatabase } from "../crash/outbox-database.js";
import type { Kind } from "../crash/outbox-traffic.js";
import { openPostgresOutboxDatabase } from "../crash/postgres-outbox-reader.js";
import type { SqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import { createSqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import type { Supervisor } from "../crash/supervisor.js";
import { startPostgres } from "../services/postgres-server.js";
import { Flow, LEASE_MS } from "./flow.js";
import { FlowLoad } from "./flow-load.js";
import type { Bench, Part } from "./part.js";
import { createDatabase } from "./postgres-crash.js";
import { tellEnd } from "./tell.js";

const STOPS = { ci: 3, long: 60 };
const JUMPS = { ci: 24, long: 1000 };
const DRAIN_MS = 60_000;
// So many publishers keep both hosts busy. Without a pause, a fast machine would publish ten thousand events while one host
// is stopped, and the endpoints, which are slow, would take minutes for them.
const STEADY = { publishers: 8, pauseMs: 150 };
// Many times what it takes: on a busy machine a second worker has other things to do first.
const TAKEOVER_MS = 10 * LEASE_MS;
const LOCK_WAIT_MS = 40;
const HOUR_MS = 3_600_000;
const SHIFTS_MS = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS, 0];

// What is due at a time of its own, or signed by somebody else, would be refused by a clock that is wrong, as it should.
const TIMELESS: readonly Kind[] = ["beside", "given", "alone", "alone_given", "rolled_back", "line"];
// A clock that jumps ahead ends every lease of its file: two attempts may be under way (I9), and the order still holds.
const ONE_CLOCK: readonly InvariantName[] = ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I10", "I12", "I13"];
// Workers write down their own times, which jump with their clocks.
const RETRY = { waitMs: 100, attempts: 99, leastWaitMs: -Infinity };

export const stoppedAndJumped: Part = {
  name: "stopped and jumped",
  about: "workers stopped past their lease while another takes over; wall clocks that jump by hours and days",
  budgetS: { ci: 60, long: 1500 },
  async run(bench) {
    const server = await startPostgres({ durable: true });
    const postgres = async (name: string): Promise<OutboxDatabase> =>
      openPostgresOutboxDatabase(await createDatabase(server, name));
    try {
      const bases = [
        ["stop on sqlite", stop, await createSqliteOutboxDatabase()],
        ["stop on postgres", stop, await postgres("stop")],
        ["jump on sqlite", jump, await createSqliteOutboxDatabase()],
        ["jump on postgres", jump, await postgres("jump")],
      ] as const;
      // Side by side: most of the time is leases that end.
      const ends = await Promise.allSettled(
        bases.map(([name, work, database]) => work(bench, name, database)),
      );
      for (const [n, end] of ends.entries())
        if (end.status === "rejected")
          bench.expect(`${bases[n]?.[0]} comes to its end: ${(end.reason as Error).stack}`, false);
    } finally {
      await server.stop();
    }
  },
};

async function stop(bench: Bench, name: string, database: OutboxDatabase): Promise<void> {
  const chance = createChance(bench.seed);
  const flow = await Flow.open({ database, hosts: 2 });
  // Slowly, so that lanes are held most of the time.
  flow.server.answer = () => ({
    status: chance.below(12) === 0 ? 503 : 204,
    afterMs: 50 + chance.below(100),
  });
  try {
    await flow.start();
    const load = new FlowLoad(flow, { scope: name.replaceAll(" ", ""), chance, ...STEADY });
    let moved = 0;
    for (let round = 1; round <= STOPS[bench.depth]; round++) {
      await load.published(30);
      moved += await stopOne(flow, database, round % 2);
      await load.published(30);
      bench.progress(`${name}: ${round} of ${STOPS[bench.depth]}, ${moved} lanes taken over`);
    }
    await load.stop();
    await flow.settle(DRAIN_MS);
    const report = await tellEnd(bench, flow, `${name}, seed ${bench.seed}`);
    bench.count("workers stopped past their lease", STOPS[bench.depth]);
    bench.count("lanes taken over", moved);
    bench.expect(`lanes of stopped workers were taken over (${name})`, moved > 0);
    bench.expect(`their attempts lapsed (${name})`, (report.counts.get("attempt.lapsed") ?? 0) > 0);
    bench.expect(`stopped workers came back with what had been done (${name})`, flow.server.repeated > 0);
    bench.expect(`no host ended by itself (${name})`, flow.ends.length === 0);
  } finally {
    await flow.close();
    await database.close();
  }
}

/** Stops a host that holds lanes until another has them; then lets it go on. Says how many lanes that were. */
async function stopOne(flow: Flow, database: OutboxDatabase, index: number): Promise<number> {
  const before = await stoppedAtWork(flow, database, index);
  flow.fault("worker stopped");
  const stoppedAt = performance.now();
  for (;;) {
    await sleep(100);
    const now = await database.leases();
    const gone = [...before].filter(([worker]) => !now.has(worker));
    // Of two who held lanes one holds none: its lanes are another's now.
    const stoodMs = performance.now() - stoppedAt;
    if (gone.length > 0 && stoodMs > LEASE_MS) {
      await flow.freeze(index, false);
      flow.fault("worker goes on");
      return gone.reduce((sum, [, lanes]) => sum + lanes, 0);
    }
    if (stoodMs > TAKEOVER_MS) {
      await flow.freeze(index, false);
      throw new Error("the lanes of a stopped worker were not taken over");
    }
  }
}

/** Stops a host at a moment when both hold lanes, and nobody holds the database. */
async function stoppedAtWork(
  flow: Flow,
  database: OutboxDatabase,
  index: number,
): Promise<ReadonlyMap<string, number>> {
  for (let tries = 0; tries < 1000; tries++) {
    const leases = await database.leases();
    if (leases.size >= 2) {
      await flow.freeze(index, true);
      if (isFree(database)) return database.leases();
      await flow.freeze(index, false);
    }
    await sleep(7);
  }
  throw new Error("two workers never held lanes at once");
}

/** A process that is stopped while it writes to a file keeps everybody from it: there is no lease in that. */
function isFree(database: OutboxDatabase): boolean {
  if (database.name !== "sqlite") return true;
  const { db } = database as SqliteOutboxDatabase;
  const waitMs = Number(db.pragma("busy_timeout", { simple: true }));
  // Waiting blocks this process, in which all endpoints answer: their senders would give up.
  db.pragma(`busy_timeout = ${LOCK_WAIT_MS}`);
  try {
    db.transaction(() => undefined).immediate();
    return true;
  } catch {
    return false;
  } finally {
    db.pragma(`busy_timeout = ${waitMs}`);
  }
}

async function jump(bench: Bench, name: string, database: OutboxDatabase): Promise<void> {
  const chance = createChance(bench.seed);
  // Processes on one file have one machine, and its clock; those on a server have their own.
  const together = database.name === "sqlite";
  const flow = await Flow.open({
    database,
    hosts: 2,
    retry: RETRY,
    ...(together && { invariants: ONE_CLOCK }),
  });
  flow.server.answer = () => ({ status: chance.below(12) === 0 ? 503 : 204, afterMs: chance.below(30) });
  try {
    await flow.start();
    const load = new FlowLoad(flow, { scope: name.replaceAll(" ", ""), chance, kinds: TIMELESS });
    let [beforeMs, waiting] = [0, 0];
    for (let n = 1; n <= JUMPS[bench.depth]; n++) {
      const shiftMs = chance.pick(SHIFTS_MS);
      if (shiftMs < beforeMs) waiting += await database.pending();
      beforeMs = shiftMs;
      const jumping = together ? flow.hosts : [chance.pick(flow.hosts)];
      flow.fault("clock jumps");
      for (const supervisor of jumping) await shift(supervisor, shiftMs);
      const receipts = flow.server.receipts.length;
      await load.published(10);
      await sleep(chance.below(500));
      const direction = shiftMs === 0 ? "right" : shiftMs > 0 ? "fast" : "slow";
      bench.count(
        `${database.name}: receipts while a clock was ${direction}`,
        flow.server.receipts.length - receipts,
      );
      bench.progress(`${name}: ${n} of ${JUMPS[bench.depth]}`);
    }
    // What was put off by a clock that ran ahead must not wait for that time: the last jump of all is back by a day.
    await shiftAll(flow, 24 * HOUR_MS);
    await load.published(20);
    waiting += await database.pending();
    await shiftAll(flow, 0);
    await load.published(20);
    await load.stop();
    await flow.settle(DRAIN_MS);
    await tellEnd(bench, flow, `${name}, seed ${bench.seed}`);
    bench.count("clock jumps", JUMPS[bench.depth]);
    bench.count(`${database.name}: deliveries that waited when a clock was set back`, waiting);
    bench.expect(`clocks were set back over deliveries that waited (${name})`, waiting > 0);
    // A file has no clock of its own: one that jumps ahead ends the leases that are held, as often as it jumps.
    if (together) bench.count("sqlite: died because leases ended with a jump, and redriven", flow.redriven);
    else bench.expect(`no event died of a wrong clock (${name})`, flow.redriven === 0);
    bench.expect(`no host ended by itself (${name})`, flow.ends.length === 0);
  } finally {
    await flow.close();
    await database.close();
  }
}

async function shift(supervisor: Supervisor, ms: number): Promise<void> {
  await (await supervisor.host()).post("/shift", { ms });
}

async function shiftAll(flow: Flow, ms: number): Promise<void> {
  for (const supervisor of flow.hosts) await shift(supervisor, ms);
  flow.fault("clocks jump");
}
