import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { createChance } from "../chance.js";
import { CRASH_SEED } from "./campaign.js";
import { ABSENT, STORED_POINTS } from "./fault-table.js";
import type { StoredDatabase } from "./stored-database.js";
import { StoredRun } from "./stored-run.js";
import { createStream } from "./stored-stream.js";
import { KEPT } from "./stored-verdict.js";

const SIZE = { keys: 8, versions: 6 };
const LATEST = 3;
const TIMEOUT_MS = 150_000;

/** Points that dispatchers pass too: a worker claims by them, and settles by them what has failed. */
const SHARED: readonly FaultPoint[] = [
  "claim.before_lease",
  "claim.after_lease",
  "settle.before_record",
  "settle.after_record",
];

/**
 * Kills the receiver or the worker at every point that an event passes which is stored first. Each point has a database
 * of its own: most of the time is spent waiting for a lease, together.
 */
export function killAtEveryStoredPoint(
  name: StoredDatabase["name"],
  open: () => Promise<StoredDatabase>,
): void {
  const kills = new Set<FaultPoint>();
  const points = [...STORED_POINTS, ...SHARED].filter((point) => ABSENT[name][point] === undefined);
  const databases: StoredDatabase[] = [];
  beforeAll(async () => {
    for (const _ of points) databases.push(await open());
  }, TIMEOUT_MS);
  afterAll(() => Promise.all(databases.map((database) => database.close())));

  describe.concurrent("stored first", () => {
    it.each(points)(
      "a kill at %s loses nothing, doubles nothing and overtakes nothing",
      { timeout: TIMEOUT_MS },
      async (point) => {
        const nth = points.indexOf(point);
        const database = databases[nth];
        if (database === undefined) throw new Error("each point has a database of its own");
        const chance = createChance(CRASH_SEED + nth);
        const run = new StoredRun({
          database,
          stream: createStream(SIZE, chance),
          scope: point.replaceAll(/[._]/g, ""),
          chance,
          workers: 1,
          worker: { failsOneIn: 4 },
        });
        try {
          await run.start();
          const killed = point.startsWith("ingest.") ? run.keeper : run.workers[0];
          await (await killed?.host())?.arm({ point, nth: 1 + chance.below(LATEST) });
          await run.send();
          await run.drained(TIMEOUT_MS / 2);
          expect(run.ends).toEqual([{ signal: "SIGKILL", point }]);
          kills.add(point);
          expect(await run.end()).toEqual(KEPT);
        } finally {
          await run.stop();
        }
      },
    );
  });

  it(`every point of what is stored first was hit by a real kill -9 on ${name}`, () => {
    expect(points.filter((point) => !kills.has(point))).toEqual([]);
  });
}
