import type { Pool, PoolClient } from "pg";
import { createReceiver } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Effect, Landing, PassageOptions } from "../e2e/outbox-passage.js";
import { createFlakiness, effectOf, everyFault, Passage } from "../e2e/outbox-passage.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

/** Repeats a run that failed, or makes another one. */
const SEED = Number(process.env["POSTHORN_CRASH_SEED"] ?? 1);

describe("from our sender to our receiver, both on Postgres", () => {
  const pools: Pool[] = [];
  const opened: PassageOptions[] = [];
  beforeAll(async () => {
    for (let n = 0; n < 2; n++) {
      const [from, to] = [await freshDatabase(), await freshDatabase()].map((connectionString) =>
        quietPool({ connectionString, max: 8 }),
      ) as [Pool, Pool];
      pools.push(from, to);
      opened.push(await passageOf(from, to));
    }
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  const next = (): PassageOptions => {
    const options = opened.pop();
    if (options === undefined) throw new Error("each test has databases of its own");
    return options;
  };

  it(`over a network that breaks in every way, each event has one effect, and each key is in order (seed ${SEED})`, async () => {
    const passage = await Passage.open({ ...next(), seed: SEED });
    await passage.publish(30);
    for (const faults of everyFault(passage.chance)) await passage.through(faults);
    await passage.expectAllLanded();
    expect([...passage.outcomes.keys()]).toEqual(
      expect.arrayContaining(["acknowledged", "refused", "unknown"]),
    );
  });

  it("an answer that is lost costs a second request, and no second effect", async () => {
    const passage = await Passage.open(next());
    for (const after of ["reset", "silence"] as const) {
      const lost = passage.proxy.swallowAnswer("webhook-id", after);
      await passage.publish(4);
      await lost;
    }
    await passage.expectAllLanded();
  });
});

async function passageOf(from: Pool, to: Pool): Promise<PassageOptions> {
  await to.query("create table effect (n bigint generated always as identity, told text)");
  const failFlaky = createFlakiness();
  return {
    outbox: postgresStore({ client: from }),
    land: (sources): Landing => ({
      receiver: createReceiver({
        store: postgresStore({ client: to }),
        sources,
        handlers: {
          "*": async (event, { tx }: { readonly tx: PoolClient }) => {
            await tx.query("insert into effect (told) values ($1)", [JSON.stringify(effectOf(event))]);
            failFlaky(event);
          },
        },
      }),
      effects: async () => {
        const { rows } = await to.query<{ told: string }>("select told from effect order by n");
        return rows.map(({ told }) => JSON.parse(told) as Effect);
      },
    }),
  };
}
