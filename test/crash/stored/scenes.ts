import { setTimeout as sleep } from "node:timers/promises";
import type { FaultPoint } from "../../../library/src/fault-point.js";
import { nameOfId } from "../../../library/src/incoming-name.js";
import type { Chance } from "../../chance.js";
import type { SCENE_POINTS } from "../fault-table.js";
import type { Host, HostEnd } from "../host.js";
import type { StoredDatabase } from "./database.js";
import { StoredRun } from "./run.js";
import type { StoredRunOptions } from "./run.js";
import { createStream } from "./stream.js";
import { idOf } from "./sender.js";
import type { KeyStream, StreamEvent, StreamSize } from "./stream.js";
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
  deciding: killOperators,
  steps: (stage) => killWorkers(stage, { size: MORE, latest: 2 }),
  starting: (stage) => killWorkers(stage, { size: FEW }),
  applying: (stage) => killWorkers(stage, { size: MORE, worker: { failsOneIn: 4 }, latest: 3 }),
  claiming: (stage) => killWorkers(stage, { size: MORE, worker: { failsOneIn: 4 }, latest: 3 }),
  removing: killRemovers,
  filling: killWhileFilling,
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
  const stream = createStream(size, stage.chance);
  return play(stage, { stream, worker: { ...worker, waits: true } }, async (run) => {
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
  const { stream, early, tails } = withTails(createStream(MORE, stage.chance));
  return play(stage, { stream }, async (run) => {
    await run.start();
    await run.send(early);
    await run.drained(stage.drainMs);
    await stage.database.mend();
    const behind = tails.values();
    for (const point of stage.points) {
      const [verb] = point.split(".");
      await killOperator(run, point, async () => {
        if (verb === "forget") await run.deeds.forget();
        else if (verb === "redrive") await run.deeds.redrive(1);
        else if (verb === "mark") await run.deeds.mark();
        else if (verb === "release") await run.deeds.release(given(behind.next().value));
        else await run.deeds.replay(3);
      });
    }
    await run.send([...behind].map((event) => [event]));
    await run.mended(stage.drainMs);
  });
}

async function killOperator(run: StoredRun, point: FaultPoint, deed: () => Promise<void>): Promise<void> {
  const host = await run.operator.host();
  await host.arm({ point, nth: 1 });
  const ended = endedInTime(host);
  await deed();
  await ended;
}

/**
 * Kills an operator at each of the points of removing a handler for which the whole stream waits: what he leaves is cancelled by
 * the workers, each delivery once. They do nothing meanwhile, or they would cancel what he is to be killed at.
 */
async function killRemovers(stage: Stage): Promise<SceneEnd> {
  const { database, points, drainMs } = stage;
  const stream = createStream(MORE, stage.chance);
  const all = stream.flat().length;
  const gone = points.map((_point, n) => `hnd_gone${n}`);
  const played = await play(stage, { stream, worker: { waits: true } }, async (run) => {
    const begin = async (): Promise<void> => {
      for (const worker of run.workers) await (await worker.host()).post("/start", {});
    };
    await database.mend();
    await run.deeds.register(gone);
    await run.start();
    await begin();
    await run.send();
    await untilWaiting(stage, gone, all);
    await run.drained(drainMs, gone.length * all);
    for (const worker of run.workers) await worker.kill();
    for (const [n, point] of points.entries())
      await killOperator(run, point, () => run.deeds.remove(given(gone[n])));
    await begin();
    await run.drained(drainMs);
    for (const handler of gone) {
      const cancelled = await database.cancelled(handler);
      if (cancelled !== all) throw new Error(`${cancelled} of ${all} deliveries of ${handler} are cancelled`);
    }
  });
  return { ...played, ends: played.ends.filter(({ point }) => point !== undefined) };
}

/** Resolves when each of the handlers has all events waiting: what is held has no places yet. */
async function untilWaiting(
  { database, drainMs }: Stage,
  handlers: readonly string[],
  all: number,
): Promise<void> {
  const endsAt = performance.now() + drainMs;
  for (;;) {
    const standings = await database.outbox.consumers();
    const waiting = standings.filter(({ id }) => handlers.includes(id)).map((each) => each.waiting);
    if (waiting.length === handlers.length && waiting.every((each) => each === all)) return;
    if (performance.now() > endsAt) throw new Error(`of ${all} events ${waiting.join()} wait`);
    await sleep(100);
  }
}

/** Kills a receiver that fills the place of an event which it does not store: what comes behind it waits for nothing. */
function killWhileFilling(stage: Stage): Promise<SceneEnd> {
  const { stream, early, tails } = withTails(createStream(FEW, stage.chance));
  const { database } = stage;
  return play(stage, { stream }, async (run) => {
    await database.mend();
    await run.start();
    await run.send(early);
    await run.drained(stage.drainMs);
    const behind = tails.values();
    for (const point of stage.points) {
      const tail = given(behind.next().value);
      const host = await run.keeper.host();
      await host.arm({ point, nth: 1 });
      const ended = endedInTime(host);
      // Each of those that are missing before it happened long ago.
      const missing = Array.from({ length: MISSING }, (_, n) => tail.version - MISSING + n);
      await run.sender.sendOnceMore(
        missing.map((version) => Object.assign({}, tail, { version, timestamp: LONG_AGO })),
      );
      await ended;
      await run.sender.sendOnceMore([tail]);
      const [stored = ""] = await database.outbox.namedEvents("default", [
        nameOfId(tail.source, idOf(stage.scope, tail)),
      ]);
      await run.drained(stage.drainMs);
      const held = await database.outbox.heldEvent("default", stored);
      const { gap } = given(held);
      if (gap !== undefined)
        throw new Error(`${tail.key} has waited for ${gap.from} to ${gap.to}, which were filled`);
    }
    await run.send([...behind].map((event) => [event]));
    await run.drained(stage.drainMs);
  });
}

// How many are missing before a tail.
const MISSING = 2;
const LONG_AGO = "2020-01-01T00:00:00Z";

/** Gives each key that is held an event more, which has others missing before it and is not sent with the rest. */
function withTails(early: readonly KeyStream[]): {
  readonly stream: readonly KeyStream[];
  readonly early: readonly KeyStream[];
  readonly tails: readonly StreamEvent[];
} {
  return {
    stream: early.map((events) => [...events, ...tailOf(events)]),
    early,
    tails: early.flatMap(tailOf),
  };
}

function tailOf(events: KeyStream): readonly StreamEvent[] {
  const [first] = events;
  if (first?.source !== "held") return [];
  const version = Math.max(...events.map((each) => each.version)) + MISSING + 1;
  return [{ ...first, place: events.length, version }];
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the scene is too small for its points");
  return value;
}

interface Play extends Pick<StoredRunOptions, "worker"> {
  readonly stream: readonly KeyStream[];
}

async function play(
  { database, scope, chance }: Stage,
  { stream, worker }: Play,
  act: (run: StoredRun) => Promise<void>,
): Promise<SceneEnd> {
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
