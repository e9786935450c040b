import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { createChance } from "../chance.js";
import { CRASH_SEED } from "./campaign.js";
import { ABSENT, OUTBOX_POINTS } from "./fault-table.js";
import type { OutboxDatabase } from "./outbox-database.js";
import { OutboxRun } from "./outbox-run.js";
import { publishEverything } from "./outbox-traffic.js";
import { expectKept } from "./run.js";

/** More rounds, at later arrivals at each point: POSTHORN_CRASH_ROUNDS. */
const ROUNDS = Number(process.env["POSTHORN_CRASH_ROUNDS"] ?? 1);

const LATEST = 4;
const MOST_WAVES = 5;
const TIMEOUT_MS = 150_000;

/** Points of the store's own writes, which a worker's pass too. */
const WRITES: readonly FaultPoint[] = [
  "write.before_begin",
  "write.after_begin",
  "write.before_commit",
  "write.after_commit",
];

/**
 * Kills a publisher or a worker at every point of the way out, and holds what is left against what was published and
 * what has arrived. Each point has a database of its own: most of the time is spent waiting for a lease, together.
 */
export function killAtEveryOutboxPoint(
  name: OutboxDatabase["name"],
  open: () => Promise<OutboxDatabase>,
): void {
  const kills = new Map<FaultPoint, number>();
  const points = [...OUTBOX_POINTS, ...WRITES].filter((point) => ABSENT[name][point] === undefined);
  const rounds = Array.from({ length: ROUNDS }, (_, n) => n + 1);
  const cases = rounds.flatMap((round) =>
    points.map((point, n) => [point, round, CRASH_SEED + round * 100 + n] as const),
  );
  const databases: OutboxDatabase[] = [];
  beforeAll(async () => {
    for (const _ of cases) databases.push(await open());
  }, TIMEOUT_MS);
  afterAll(() => Promise.all(databases.map((database) => database.close())));

  describe.concurrent("on the way out", () => {
    it.each(cases)(
      "a kill at %s loses nothing and overtakes nothing (round %i)",
      { timeout: TIMEOUT_MS },
      async (point, round, seed) => {
        const chance = createChance(seed);
        const nth = 1 + chance.below(LATEST);
        const database = databases.pop();
        if (database === undefined) throw new Error("each case has a database of its own");
        const run = await OutboxRun.open({ database, scope: `${point.replaceAll(/[._]/g, "")}${round}` });
        try {
          run.server.answer = ({ repeated }) => ({
            status: !repeated && chance.below(6) === 0 ? 503 : 204,
            afterMs: chance.below(4),
          });
          await run.work();
          const killed =
            point.startsWith("publish.") || point.startsWith("append.") ? run.publisher : run.workers[0];
          if (killed) await run.arm(killed, { point, nth });
          // Some points are passed a while after a publication, and by many events at once.
          for (let wave = 1; run.ends.length === 0 && wave <= MOST_WAVES; wave++) {
            await publishEverything(run, chance, wave);
            await run.drained();
          }
          expect(run.ends).toEqual([{ signal: "SIGKILL", point }]);
          kills.set(point, (kills.get(point) ?? 0) + 1);
          const report = await run.end();
          expectKept(report, `killed at ${point}, time ${nth}, seed ${CRASH_SEED}`);
        } finally {
          await run.close();
        }
      },
    );
  });

  it(`every point of the way out was hit by a real kill -9 on ${name}`, () => {
    console.log(`kill -9 on ${name}: ${[...kills].map(([point, n]) => `${point} ${n}`).join(", ")}`);
    expect(points.filter((point) => (kills.get(point) ?? 0) === 0)).toEqual([]);
  });
}
