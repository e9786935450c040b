import { describe, expect, it, afterAll, beforeAll } from "vitest";
import { FAULT_POINTS } from "../../library/src/fault-point.js";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { createChance } from "../chance.js";
import type { Database } from "./database.js";
import { ABSENT } from "./fault-table.js";
import { expectKept, Run } from "./run.js";
import { REPEATS, sendEverything } from "./traffic.js";

/** More rounds, at later arrivals at each point: POSTHORN_CRASH_ROUNDS. */
const ROUNDS = Number(process.env["POSTHORN_CRASH_ROUNDS"] ?? 1);
const SEED = Number(process.env["POSTHORN_CRASH_SEED"] ?? 1);

/** Kills a host at every point that its store has, and holds what is left against the sender's log. */
export function killAtEveryPoint(
  name: Database["name"],
  open: () => Promise<Database>,
  elsewhere: readonly FaultPoint[],
): void {
  const kills = new Map<FaultPoint, number>();
  const points = FAULT_POINTS.filter(
    (point) => ABSENT[name][point] === undefined && !elsewhere.includes(point),
  );
  let database: Database;
  beforeAll(async () => void (database = await open()));
  afterAll(async () => {
    const counted = [...kills].map(([point, n]) => `${point} ${n}`).join(", ");
    console.log(`kill -9 on ${name}: ${counted}`);
    await database.close();
  });

  describe.each(Array.from({ length: ROUNDS * 2 }, (_, round) => round))(`round %i on ${name}`, (round) => {
    it.each(points)("a kill at %s loses nothing and doubles nothing", async (point) => {
      const chance = createChance(SEED + round);
      const nth = round === 0 ? 1 : 1 + chance.below(REPEATS);
      const scope = `${point.replaceAll(/[._]/g, "")}${round}`;
      const run = new Run({ database, scope });
      try {
        await run.arm({ point, nth });
        await sendEverything(run, scope, chance);
        expect(run.ends).toEqual([{ signal: "SIGKILL", point }]);
        kills.set(point, (kills.get(point) ?? 0) + 1);
        expectKept(await run.end(), `killed at ${point}, time ${nth}, seed ${SEED + round}`);
      } finally {
        await run.stop();
      }
    });
  });

  it(`every point was hit by a real kill -9 on ${name}`, () => {
    expect(points.filter((point) => kills.get(point) === undefined)).toEqual([]);
  });
}
