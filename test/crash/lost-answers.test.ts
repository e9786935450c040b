import { createFaultProxy } from "posthorn/testing";
import type { FaultProxy } from "posthorn/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createChance } from "../chance.js";
import { skipFor } from "../skip-reason.js";
import { CRASH_SEED, CRASH_TIMES } from "./campaign.js";
import { letterOf } from "./letter.js";
import { Load } from "./load.js";
import type { PostgresDatabase } from "./postgres-database.js";
import { createPostgresDatabase } from "./postgres-database.js";
import { expectKept, Run } from "./run.js";
import { Supervisor } from "./supervisor.js";

// As the driver sends it: the end of the text tells it from "read committed".
const COMMIT = "commit\u0000";
const DEADLINE_MS = 1000;

const chance = createChance(CRASH_SEED);

describe.each(["pg", "postgres"] as const)("a connection of %s to the database that breaks", (driver) => {
  // With or without Posthorn: about forty resets at chosen bytes, and `sql.begin` waits for ever.
  const broken = skipFor(
    driver === "postgres" && "the driver loses places of its pool to connections that broke early",
  );
  const silent = skipFor(
    driver === "postgres" && "the driver cannot give up a connection that has gone silent",
  );
  let database: PostgresDatabase;
  let proxy: FaultProxy;
  let supervisor: Supervisor;
  beforeAll(async () => {
    database = await createPostgresDatabase();
    proxy = await createFaultProxy({ port: Number(new URL(database.options.database).port) });
    supervisor = new Supervisor({ ...database.at(proxy.port), driver, handlerDeadlineMs: DEADLINE_MS });
  });
  afterAll(async () => {
    await supervisor.stop();
    await proxy.close();
    await database.close();
  });

  async function withRun(scope: string, work: (run: Run) => Promise<void>): Promise<void> {
    const run = new Run({ database, supervisor, scope });
    try {
      await work(run);
      expectKept(await run.end(), `${scope}, seed ${CRASH_SEED}`);
      expect(run.ends).toEqual([]);
    } finally {
      proxy.heal();
      run.close();
    }
  }

  const loseCommits = (after: "reset" | "silence"): Promise<void> =>
    withRun(`commit${after}`, async (run) => {
      for (let n = 0; n < 3 * CRASH_TIMES; n++) {
        const letter = letterOf(`${run.scope}-${n}`, "counted", chance);
        const commit = { lost: false };
        void proxy.swallowAnswer(COMMIT, after).then(() => (commit.lost = true));
        const sender = run.provider.writer();
        let delivery = await run.provider.once(letter, sender);
        // On a busy machine a connection may take longer than the receiver waits for one.
        while (!commit.lost && delivery.status === 503) delivery = await run.provider.once(letter, sender);
        run.fault("answer to the commit lost");
        expect([commit.lost, delivery]).toEqual([true, { status: 503, verdict: "unavailable" }]);
        expect(await database.effectsOf(letter.event)).toBe(1);
        expect((await run.provider.deliver(letter)).at(-1)?.verdict).toBe("duplicate");
      }
    });

  it("during the commit: the reply is never a success, and the next delivery finds the truth", () =>
    loseCommits("reset"));

  it("during the commit, without a word: the same, when the handler's time is up", silent, () =>
    loseCommits("silence"),
  );

  it("at any byte, in either direction: no reply lies", broken, () =>
    withRun("anybyte", async (run) => {
      const verdicts = new Set<unknown>();
      for (let n = 0; n < 24 * CRASH_TIMES; n++) {
        const letter = letterOf(`${run.scope}-${n}`, chance.pick(["counted", "flaky"]), chance);
        const direction = chance.pick(["to_server", "to_client"] as const);
        proxy.set({ resetAfter: { direction, bytes: chance.below(2500) } });
        verdicts.add((await run.provider.once(letter, run.provider.writer())).verdict);
        proxy.heal();
        await run.provider.deliver(letter);
      }
      // Breaks that were all too late or all too early would prove nothing.
      expect([...verdicts]).toContain("applied");
      expect(verdicts.size).toBeGreaterThan(1);
    }),
  );

  it("without a word, as at a failover: other connections take the place of those that hang", silent, () =>
    withRun("failover", async (run) => {
      const letters = ["1", "2", "3"].map((n) => letterOf(`${run.scope}-${n}`, "counted", chance));
      const [first, second, third] = letters;
      if (!first || !second || !third) throw new Error("three letters were written");
      const waiting: Promise<unknown>[] = [];
      for (const letter of [first, second]) {
        // The id goes over the wire for the first time when the event is looked up.
        const lost = proxy.swallowAnswer(letter.event.id, "silence");
        waiting.push(run.provider.deliver(letter));
        waiting.at(-1)?.catch(() => undefined);
        await lost;
        run.fault("answer to the look-up lost in silence");
      }
      await run.provider.deliver(third);
      await Promise.all(waiting);
    }),
  );

  it("under load, again and again, and falls silent: everything is applied once, and no restart is needed", () =>
    withRun("network", async (run) => {
      const load = new Load(run, "receiver", chance);
      for (let n = 0; n < 5 * CRASH_TIMES; n++) {
        // Not before it has come to its feet again, however slow the machine: faults that meet no work prove nothing.
        const before = load.sent;
        while (load.sent < before + 4) await sleep(5);
        await sleep(chance.below(100));
        proxy.cut();
        run.fault("all connections cut");
        await sleep(chance.below(200));
        proxy.set({ blackHole: true });
        run.fault("black hole");
        await sleep(chance.below(400));
        proxy.set({ latencyMs: 5 });
      }
      proxy.heal();
      await load.drain();
    }));
});
