import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { afterAll, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

type Store = ReturnType<typeof postgresStore>;

const pools: ReturnType<typeof quietPool>[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.end())));

/** An event of a handler's lane that nothing holds any more: retention may remove it at any moment. */
const AGAIN: readonly (readonly [string, (store: Store) => Promise<() => Promise<unknown>>])[] = [
  [
    "a redrive of what was skipped",
    async (store) => {
      await store.register([
        { id: "hnd_default", sources: ["*"], types: ["*"], order: "key", dead: undefined },
      ]);
      while ((await store.sequence()).more);
      const [lane] = (await store.lanes({}, { limit: 1 })).items;
      expect(await store.skip(lane?.id ?? 0n, lane?.head ?? 0n)).toBe("skipped");
      const [event] = (await store.events({}, { limit: 1 })).items;
      const [passed] = await store.deliveriesOf("default", [event?.id ?? ""]);
      return () => store.redrive(passed?.id ?? "");
    },
  ],
  [
    "a replay of what was applied",
    async (store) => {
      await createWorker({ store, handlers: { paid: () => undefined } }).drain();
      const [row] = (await store.inboxRows({}, { limit: 1 })).items;
      const { tenant = "", source = "", id = "", consumer = "", round = 0 } = row ?? {};
      return async () =>
        (await store.stageAgain([{ tenant, source, id, consumer, verb: "replay", round }]))[0];
    },
  ],
];

it.each(AGAIN)(
  "%s keeps its event, however close a removal of old events is behind it",
  async (_what, ready) => {
    const pool = quietPool({ connectionString: await freshDatabase(), max: 6 });
    pools.push(pool);
    const store = postgresStore({ client: pool });
    const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
    const receiver = createReceiver({ mode: "store_first", store, sources, observer: () => undefined });
    const body = new TextEncoder().encode('{"type":"paid","key":"k"}');
    const headers = signSync(createSigner({ secrets: SECRET }), { id: "evt_1", body });
    expect((await receiver.receive("shop", { headers, body })).verdict).toBe("stored");
    const again = await ready(store);
    const waiting = async (): Promise<number> => {
      const { rows } = await pool.query<{ n: string }>(
        `select count(*)::text as n from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return Number(rows[0]?.n);
    };
    // It has seen the event, and has not staged it yet.
    const stage = await pool.connect();
    await stage.query("begin; lock table posthorn.stage in share mode");
    const staged = again();
    await expect.poll(waiting, { timeout: 10_000 }).toBe(1);
    let removed = false;
    const step = {
      kind: "events",
      windowMs: 0,
      idWindowMs: undefined,
      limit: 100,
      after: undefined,
    } as const;
    const removal = store.removeOld(step).finally(() => (removed = true));
    await expect.poll(async () => removed || (await waiting()) > 1, { timeout: 10_000 }).toBe(true);
    await stage.query("commit");
    stage.release();
    expect(["at_end", "staged"]).toContain(await staged);
    await removal;
    while ((await store.sequence()).more);
    expect((await store.events({}, { limit: 10 })).items).toHaveLength(1);
    expect((await store.lanes({}, { limit: 10 })).items).toMatchObject([{ depth: 1n }]);
  },
);
