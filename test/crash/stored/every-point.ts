import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../../library/src/fault-point.js";
import { createChance } from "../../chance.js";
import { CRASH_SEED } from "../campaign.js";
import { ABSENT, SCENE_POINTS, STORING_POINTS } from "../fault-table.js";
import type { StoredDatabase } from "./database.js";
import { StoredRun } from "./run.js";
import { SCENES } from "./scenes.js";
import type { SceneName } from "./scenes.js";
import { createStream } from "./stream.js";
import { KEPT } from "./verdict.js";

const SIZE = { keys: 8, otherKeys: 3, versions: 6 };
const LATEST = 3;
const TIMEOUT_MS = 150_000;

/**
 * Kills the receiver, the worker or the operator at every point that an event passes which is stored first. Each run has a
 * database of its own: most of the time is spent waiting for a lease, together.
 */
export function killAtEveryStoredPoint(
  name: StoredDatabase["name"],
  open: () => Promise<StoredDatabase>,
): void {
  const kills = new Set<FaultPoint>();
  const scenes = Object.keys(SCENES) as SceneName[];
  const runs: readonly string[] = [...scenes, ...STORING_POINTS];
  const databases = new Map<string, StoredDatabase>();
  beforeAll(async () => {
    for (const run of runs) databases.set(run, await open());
  }, TIMEOUT_MS);
  afterAll(() => Promise.all([...databases.values()].map((database) => database.close())));

  const openedFor = (run: string) => {
    const database = databases.get(run);
    if (database === undefined) throw new Error("each run has a database of its own");
    return {
      database,
      scope: run.replaceAll(/[._]/g, ""),
      chance: createChance(CRASH_SEED + runs.indexOf(run)),
    };
  };

  describe.concurrent("stored first", () => {
    it.each(scenes)(
      "kills at every point of %s lose nothing, double nothing and overtake nothing",
      { timeout: TIMEOUT_MS },
      async (scene) => {
        const points = SCENE_POINTS[scene].filter((point) => ABSENT[name][point] === undefined);
        const stage = { ...openedFor(scene), points, drainMs: TIMEOUT_MS / 2 };
        const { ends, verdict } = await SCENES[scene](stage);
        expect(ends).toEqual(points.map((point) => ({ signal: "SIGKILL", point })));
        for (const point of points) kills.add(point);
        expect(verdict).toEqual(KEPT);
      },
    );

    it.each(STORING_POINTS)(
      "a kill at %s loses nothing, doubles nothing and overtakes nothing",
      { timeout: TIMEOUT_MS },
      async (point) => {
        const { chance, ...opened } = openedFor(point);
        const run = new StoredRun({ ...opened, chance, stream: createStream(SIZE, chance), workers: 1 });
        try {
          await opened.database.mend();
          await run.start();
          await (await run.keeper.host()).arm({ point, nth: 1 + chance.below(LATEST) });
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
    const all = [...STORING_POINTS, ...Object.values(SCENE_POINTS).flat()];
    expect(all.filter((point) => ABSENT[name][point] === undefined && !kills.has(point))).toEqual([]);
  });
}
