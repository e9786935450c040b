import { expect, it } from "vitest";
import { createChance } from "../../chance.js";
import { CRASH_SEED, CRASH_TIMES } from "../campaign.js";
import type { StoredDatabase } from "./database.js";
import { killWhileStored } from "./kills.js";
import { createStream } from "./stream.js";
import { KEPT } from "./verdict.js";

const SIZE = { keys: 60, otherKeys: 10, versions: 15 * CRASH_TIMES };
const KILLS = 8;
const MOST_KILLS = 60 * CRASH_TIMES;
const REPLAYS = 16;
const TIMEOUT_MS = 300_000 + 30_000 * CRASH_TIMES;

/** A stream that is reordered, doubled and full of gaps, through processes that are killed throughout. */
export function tryStoredStream(open: () => Promise<StoredDatabase>): void {
  it(
    "a stream that is stored first is applied once by each consumer, in the order of storing, whoever is killed",
    { timeout: TIMEOUT_MS },
    async () => {
      const chance = createChance(CRASH_SEED);
      const database = await open();
      const { verdict, ...figures } = await killWhileStored({
        database,
        stream: createStream(SIZE, chance),
        scope: "stream",
        chance,
        everyMs: 1500,
        leastKills: KILLS,
        mostKills: MOST_KILLS,
        replays: REPLAYS,
        drainMs: TIMEOUT_MS / 2,
      });
      console.log(`${database.name}: ${JSON.stringify(figures)}`);
      expect(verdict).toEqual(KEPT);
      expect(figures.again).toBeGreaterThan(0);
      // A hold that lets everything pass, or an operator without work, would prove nothing.
      expect(figures.putInOrder).toBeGreaterThan(0);
      expect(figures.replayed).toBe(REPLAYS);
      expect(figures.redriven).toBeGreaterThan(0);
      // Kills that met nobody would prove nothing.
      expect(figures.atWork).toBeGreaterThan(figures.kills / 4);
    },
  );
}
