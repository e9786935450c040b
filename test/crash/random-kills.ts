import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createChance } from "../chance.js";
import { CRASH_SEED, CRASH_TIMES } from "./campaign.js";
import type { Database } from "./database.js";
import { Load } from "./load.js";
import type { Workload } from "./load.js";
import { expectKept, Run } from "./run.js";
import { Supervisor } from "./supervisor.js";

const KILLS = 12 * CRASH_TIMES;
const LEAST_REPLIES = 10;
const LONGEST_LIFE_MS = 100;

/** Kills a host under load, at moments that nobody has chosen. */
export function killAtRandom(name: Database["name"], open: () => Promise<Database>): void {
  let database: Database;
  beforeAll(async () => void (database = await open()));
  afterAll(() => database.close());

  const about: Readonly<Record<Workload, string>> = {
    receiver: "a receiver",
    dedup: "a host that dedups in its own transaction",
  };
  it.each(["receiver", "dedup"] as const)(
    `${KILLS} kills at random of %s on ${name} lose nothing and double nothing`,
    { timeout: 60_000 + KILLS * 5000 },
    async (workload) => {
      const chance = createChance(CRASH_SEED);
      const supervisor = new Supervisor(database.options);
      const run = new Run({ database, supervisor, scope: `random${workload}`, look: false });
      try {
        const load = new Load(run, workload, chance);
        for (let kill = 1; kill <= KILLS; kill++) {
          await supervisor.host();
          // Most of them at work; one in four whatever it does, be it nothing yet.
          const before = run.provider.replies;
          if (chance.below(4) > 0) while (run.provider.replies < before + LEAST_REPLIES) await sleep(2);
          await sleep(chance.below(LONGEST_LIFE_MS));
          await supervisor.kill();
        }
        await load.drain();
        const report = await run.end();
        expectKept(report, `${KILLS} kills of ${about[workload]}, seed ${CRASH_SEED}`);
        expect(run.ends).toHaveLength(KILLS);
        // Kills that met nobody, and answers that were all heard, would prove nothing.
        const sometimes = [
          "fault.kill at any moment",
          "send.unknown",
          "send.ok.applied",
          "send.ok.duplicate",
        ];
        expect(sometimes.filter((what) => !report.counts.has(what))).toEqual([]);
        console.log(
          `${name}, ${workload}: ${load.sent} events, ${report.counts.get("send.unknown")} answers lost`,
        );
      } finally {
        run.close();
        await supervisor.stop();
      }
    },
  );
}
