import { createChance } from "../chance.js";
import type { StoredDatabase } from "../crash/stored/database.js";
import { createSqliteStoredDatabase, openPostgresStoredDatabase } from "../crash/stored/database.js";
import { killWhileStored } from "../crash/stored/kills.js";
import { createStream } from "../crash/stored/stream.js";
import { startPostgres } from "../services/postgres-server.js";
import type { Bench, Part } from "./part.js";
import { createDatabase } from "./postgres-crash.js";

// A little more than the events that are sent: one in forty never comes.
const SIZE = {
  ci: { keys: 90, otherKeys: 15, versions: 14 },
  long: { keys: 600, otherKeys: 100, versions: 103 },
};
const REPLAYS = { ci: 20, long: 400 };
const EVERY_MS = { ci: 800, long: 1500 };
const LEAST_KILLS = { ci: 10, long: 80 };
const MOST_KILLS = { ci: 300, long: 6000 };
const LEAST_EVENTS = { ci: 2000, long: 100_000 };
const DRAIN_MS = { ci: 120_000, long: 1_200_000 };

const ABOUT =
  "kill -9 of a receiver that stores first, of three workers and of an operator, under a stream that is reordered, doubled and gapped";

export const storedSqliteKills: Part = {
  name: "stored sqlite kills",
  about: ABOUT,
  budgetS: { ci: 40, long: 600 },
  async run(bench) {
    await streamInto(bench, await createSqliteStoredDatabase());
  },
};

export const storedPostgresKills: Part = {
  name: "stored postgres kills",
  about: ABOUT,
  budgetS: { ci: 40, long: 600 },
  async run(bench) {
    const server = await startPostgres({ durable: true });
    try {
      await streamInto(bench, await openPostgresStoredDatabase(await createDatabase(server, "stored")));
    } finally {
      await server.stop();
    }
  },
};

async function streamInto(bench: Bench, database: StoredDatabase): Promise<void> {
  const { depth, seed } = bench;
  const { name } = database;
  const chance = createChance(seed);
  const { verdict, ...figures } = await killWhileStored({
    database,
    stream: createStream(SIZE[depth], chance),
    scope: `stored${seed}`,
    chance,
    everyMs: EVERY_MS[depth],
    leastKills: LEAST_KILLS[depth],
    mostKills: MOST_KILLS[depth],
    replays: REPLAYS[depth],
    drainMs: DRAIN_MS[depth],
    onProgress: (line) => bench.progress(`${name}: ${line}`),
  });
  const { events, kills, seconds } = figures;
  const { lost, doubled, outOfOrder } = verdict;
  bench.note(
    `${name}: ${events} events, ${kills} kills, ${Math.round(seconds)} s: ${lost} lost, ${doubled} doubled, ${outOfOrder} out of order`,
  );
  bench.note(`${name}: ${JSON.stringify(figures)}`);
  const least = LEAST_EVENTS[depth];
  bench.expect(`${name}: ${events} events were sent, at least ${least}`, events >= least);
  for (const [harm, times] of Object.entries(verdict)) {
    bench.count(`${name}: ${harm}`, times);
    bench.expect(`${name}: nothing is ${harm}, seed ${seed}`, times === 0);
  }
  bench.expect(`${name}: what came behind newer events was held back until its turn`, figures.putInOrder > 0);
  bench.expect(`${name}: everything was replayed that was to be`, figures.replayed === REPLAYS[depth]);
  bench.expect(`${name}: something dead was redriven`, figures.redriven > 0);
  bench.expect(`${name}: kills met work under way`, figures.atWork > figures.kills / 4);
}
