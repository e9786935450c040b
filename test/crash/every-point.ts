import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { createChance } from "../chance.js";
import { CRASH_SEED } from "./campaign.js";
import type { Database } from "./database.js";
import { ABSENT, INBOX_POINTS } from "./fault-table.js";
import { expectKept, Run } from "./run.js";
import { Supervisor } from "./supervisor.js";
import { sendEverything } from "./traffic.js";

/** More rounds, at later arrivals at each point: POSTHORN_CRASH_ROUNDS. */
const ROUNDS = Number(process.env["POSTHORN_CRASH_ROUNDS"] ?? 2);

const LATEST = 3;
const MOST_WAVES = 5;

/** Kills a host at every point that its store has, and holds what is left against the sender's log. */
export function killAtEveryPoint(
  name: Database["name"],
  open: () => Promise<Database>,
  { elsewhere }: { readonly elsewhere: ReadonlyMap<FaultPoint, number> },
): void {
  const kills = new Map<FaultPoint, number>();
  const present = INBOX_POINTS.filter((point) => ABSENT[name][point] === undefined);
  const points = present.filter((point) => !elsewhere.has(point));
  let database: Database;
  let supervisor: Supervisor;
  beforeAll(async () => {
    database = await open();
    supervisor = new Supervisor(database.options);
  });
  afterAll(async () => {
    await supervisor.stop();
    await database.close();
  });

  describe.each(Array.from({ length: ROUNDS }, (_, n) => n + 1))("in round %i", (round) => {
    it.each(points)("a kill at %s loses nothing and doubles nothing", async (point) => {
      const chance = createChance(CRASH_SEED + round);
      // Alone at first; then in the middle of others, with which it may share a transaction.
      const nth = round === 1 ? 1 : 1 + chance.below(LATEST);
      const run = new Run({ database, supervisor, scope: `${point.replaceAll(/[._]/g, "")}${round}` });
      try {
        await (await supervisor.host()).arm({ point, nth });
        // Events that share a transaction come to its points together, so that one wave may not be enough.
        for (let wave = 1; run.ends.length === 0 && wave <= MOST_WAVES; wave++)
          await sendEverything(run, chance, wave);
        expect(run.ends).toEqual([{ signal: "SIGKILL", point }]);
        kills.set(point, (kills.get(point) ?? 0) + 1);
        expectKept(await run.end(), `killed at ${point}, time ${nth}, seed ${CRASH_SEED}`);
      } finally {
        run.close();
      }
    });
  });

  it(`every point was hit by a real kill -9 on ${name}`, () => {
    const hits = new Map([...kills, ...elsewhere]);
    console.log(`kill -9 on ${name}: ${[...hits].map(([point, n]) => `${point} ${n}`).join(", ")}`);
    expect(present.filter((point) => (hits.get(point) ?? 0) === 0)).toEqual([]);
  });
}
