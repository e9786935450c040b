import type { FaultPoint } from "../../../library/src/fault-point.js";
import type { Chance } from "../../chance.js";
import type { SCENE_POINTS } from "../fault-table.js";
import type { Host, HostEnd } from "../host.js";
import type { StoredDatabase } from "./database.js";
import { StoredRun } from "./run.js";
import type { StoredRunOptions } from "./run.js";
import { createStream } from "./stream.js";
import type { StreamSize } from "./stream.js";
import type { StoredVerdict } from "./verdict.js";

export type SceneName = keyof typeof SCENE_POINTS;

/** What a scene is played on. */
export interface Stage {
  readonly database: StoredDatabase;
  readonly scope: string;
  readonly chance: Chance;
  /** Somebody is killed at each of them, one after the other. */
  readonly points: readonly FaultPoint[];
  readonly drainMs: number;
}

interface SceneEnd {
  readonly ends: readonly HostEnd[];
  readonly verdict: StoredVerdict;
}

const FEW: StreamSize = { keys: 3, otherKeys: 3, versions: 6 };
const MORE: StreamSize = { keys: 8, otherKeys: 5, versions: 6 };
const PATIENCE_MS = 60_000;

/**
 * Runs in which somebody is killed at several points. In one run for each of them the time would be spent on processes that
 * start, and on leases that end.
 */
export const SCENES: Readonly<Record<SceneName, (stage: Stage) => Promise<SceneEnd>>> = {
  // Every point in turn; the longest scenes come first.
  extending: (stage) => killWorkers(stage, { size: FEW, worker: { slowJobEvery: 4 } }),
  operating: killOperators,
  steps: (stage) => killWorkers(stage, { size: MORE, latest: 2 }),
  starting: (stage) => killWorkers(stage, { size: FEW }),
  applying: (stage) => killWorkers(stage, { size: MORE, worker: { failsOneIn: 4 }, latest: 3 }),
  claiming: (stage) => killWorkers(stage, { size: MORE, worker: { failsOneIn: 4 }, latest: 3 }),
};

interface Cast {
  readonly size: StreamSize;
  readonly worker?: NonNullable<StoredRunOptions["worker"]>;
  /** At which time that it comes to its point a worker is killed, at most. @default 1 */
  readonly latest?: number;
}

/**
 * Kills a worker at each of the points, and the one that is started in its place at the next. Everything is stored before
 * the first of them registers its handlers, and each is armed before it starts: what a kill tears apart is lost for good.
 */
function killWorkers(stage: Stage, cast: Cast): Promise<SceneEnd> {
  const { database, points, chance, drainMs } = stage;
  const { size, worker = {}, latest = 1 } = cast;
  return play(stage, { size, worker: { ...worker, waits: true } }, async (run) => {
    // Dead letters are a matter of the operator.
    await database.mend();
    await run.startKeeper();
    await run.send();
    await run.startWorkers();
    const [killed] = run.workers;
    if (killed === undefined) throw new Error("nobody is there to be killed");
    for (const point of points) {
      const host = await killed.host();
      await host.arm({ point, nth: 1 + chance.below(latest) });
      const ended = endedInTime(host);
      await host.post("/start", {}).catch(() => undefined);
      await ended;
    }
    await (await killed.host()).post("/start", {});
    await run.drained(drainMs);
  });
}

/** Kills an operator at each of the points, in the middle of a deed that is asked for again. */
function killOperators(stage: Stage): Promise<SceneEnd> {
  return play(stage, { size: MORE }, async (run) => {
    await run.start();
    await run.send();
    await run.drained(stage.drainMs);
    await stage.database.mend();
    for (const point of stage.points) {
      const host = await run.operator.host();
      await host.arm({ point, nth: 1 });
      const ended = endedInTime(host);
      if (point.startsWith("forget.")) await run.deeds.forget();
      else if (point.startsWith("redrive.")) await run.deeds.redrive(1);
      else await run.deeds.replay(3);
      await ended;
    }
    await run.mended(stage.drainMs);
  });
}

async function play(
  { database, scope, chance }: Stage,
  { size, worker }: Pick<StoredRunOptions, "worker"> & { readonly size: StreamSize },
  act: (run: StoredRun) => Promise<void>,
): Promise<SceneEnd> {
  const stream = createStream(size, chance);
  const run = new StoredRun({ database, stream, scope, chance, workers: 1, ...(worker && { worker }) });
  try {
    await act(run);
    return { ends: [...run.ends], verdict: await run.end() };
  } finally {
    await run.stop();
  }
}

/** Resolves when the host has ended: at its point, or because it never came there. */
async function endedInTime(host: Host): Promise<HostEnd> {
  const timeout = setTimeout(() => void host.kill(), PATIENCE_MS);
  try {
    return await host.ended;
  } finally {
    clearTimeout(timeout);
  }
}
