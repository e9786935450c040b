import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../../chance.js";
import type { StoredDatabase } from "./database.js";
import { putInOrder } from "./order.js";
import { StoredRun } from "./run.js";
import type { KeyStream } from "./stream.js";
import type { StoredVerdict } from "./verdict.js";

export interface StoredKillsOptions {
  readonly database: StoredDatabase;
  readonly stream: readonly KeyStream[];
  readonly scope: string;
  readonly chance: Chance;
  /** The longest that everybody lives between two kills. */
  readonly everyMs: number;
  /** So many at least, however fast the stream is sent. */
  readonly leastKills: number;
  /** So many at most, however long it takes; then everybody is left alone. */
  readonly mostKills: number;
  /** So many events are replayed, at one consumer each, while everybody is killed. */
  readonly replays: number;
  readonly drainMs: number;
  readonly onProgress?: (line: string) => void;
}

/** What happened, and what came of it. */
export interface StoredKills {
  readonly verdict: StoredVerdict;
  readonly events: number;
  readonly again: number;
  readonly unanswered: number;
  readonly kills: number;
  /** Kills while lanes were leased. */
  readonly atWork: number;
  /** Events that came behind newer ones of their key, and were held back until it was their turn. */
  readonly putInOrder: number;
  readonly replayed: number;
  readonly redriven: number;
  readonly seconds: number;
}

const WORKERS = 3;

/** Sends a stream while the receiver and the workers are killed at random, until little of it is left to apply. */
export async function killWhileStored(options: StoredKillsOptions): Promise<StoredKills> {
  const { database, drainMs } = options;
  const run = new StoredRun({ ...options, workers: WORKERS });
  const startedAt = performance.now();
  try {
    await run.start();
    const sending = { over: false };
    const sent = run.send().finally(() => (sending.over = true));
    sent.catch(() => undefined);
    const operated = operateUntil(run, options, () => sending.over);
    operated.catch(() => undefined);
    const { kills, atWork } = await killUntil(run, options, () => sending.over);
    await sent;
    const replayed = await operated;
    await run.mended(drainMs);
    const seconds = (performance.now() - startedAt) / 1000;
    const { sent: events, again, unanswered } = run.sender;
    const verdict = await run.end();
    const inOrder = putInOrder(options.stream, (await database.rows()).applied);
    const { redriven } = run.deeds;
    return {
      verdict,
      events,
      again,
      unanswered,
      kills,
      atWork,
      putInOrder: inOrder,
      replayed,
      redriven,
      seconds,
    };
  } finally {
    await run.stop();
    await database.close();
  }
}

const REPLAYED_AT_ONCE = 4;
const OPERATE_EVERY_MS = 400;

/**
 * Replays while events come; mends the broken handlers in the middle of the stream, when they have given up something, and
 * goes on until that was redriven. Says how much was replayed.
 */
async function operateUntil(
  run: StoredRun,
  { database, stream, replays, drainMs }: StoredKillsOptions,
  isOver: () => boolean,
): Promise<number> {
  const half = stream.flat().length / 2;
  let replayed = 0;
  let isMended = false;
  let endsAt = Infinity;
  while (!isOver() || replayed < replays || run.deeds.redriven === 0) {
    if (isOver()) endsAt = Math.min(endsAt, performance.now() + drainMs);
    if (performance.now() > endsAt)
      throw new Error(`${replayed} of ${replays} were replayed and ${run.deeds.redriven} redriven, at last`);
    if (replayed < replays)
      replayed += await run.deeds.replay(Math.min(REPLAYED_AT_ONCE, replays - replayed));
    if (!isMended && run.sender.sent > half && (await database.dead()) > 0) {
      await database.mend();
      isMended = true;
    }
    if (isMended) await run.deeds.redrive();
    await sleep(OPERATE_EVERY_MS);
  }
  return replayed;
}

async function killUntil(
  run: StoredRun,
  { database, stream, chance, everyMs, leastKills, mostKills, onProgress }: StoredKillsOptions,
  isOver: () => boolean,
): Promise<{ readonly kills: number; readonly atWork: number }> {
  let kills = 0;
  let atWork = 0;
  let waiting = 0;
  // While there is a backlog, too; its last events are left alone, or leases of the killed would be waited for again and again.
  const goesOn = (): boolean => !isOver() || kills < leastKills || waiting > stream.length;
  // A machine that applies less than is killed would never come to an end.
  while (goesOn() && kills < mostKills) {
    await sleep(chance.below(everyMs));
    if ((await database.leases()).size > 0) atWork++;
    // Workers more often than the receiver: a stream that cannot be sent kills nobody at work.
    await chance.pick([run.keeper, run.operator, ...run.workers, ...run.workers]).kill();
    kills++;
    waiting = await database.pending();
    onProgress?.(`${run.sender.sent} events sent, ${waiting} wait, ${kills} kills`);
  }
  return { kills, atWork };
}
