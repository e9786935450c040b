import { createSender, generateSecret } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { checkDispatcher } from "../../library/src/delivery/dispatcher-options.js";
import { DispatcherRun } from "../../library/src/delivery/dispatcher.js";
import type { EgressAnswer, OutgoingRequest } from "../../library/src/delivery/egress/egress.js";
import { createDatabaseFile } from "./database-file.js";

// As library/src/delivery/starvation.test.ts, for what happens before anything is claimed: events are given their places.

const ENDPOINTS = 1000;
const EVENTS = 5;
const WELL = "well.example.com";
const MOST_BEFORE = 128;

it(`an endpoint makes its k-th attempt at most ${MOST_BEFORE} attempts of others after its event, though ${EVENTS} events of another tenant have ${ENDPOINTS * EVENTS} deliveries`, async () => {
  const file = createDatabaseFile();
  const db = file.open();
  await migrate(db);
  const clock = createFakeClock({ at: Date.UTC(2026, 10, 16) });
  const store = sqliteStore({ db, clock });
  const sender = createSender({ store, clock });
  const tried: string[] = [];
  const egress = {
    async post({ url }: OutgoingRequest): Promise<EgressAnswer> {
      tried.push(new URL(url).hostname);
      await clock.sleep(5);
      return { outcome: { kind: "acknowledged", status: 200 }, answer: undefined, durationMs: 5 };
    },
    close: () => Promise.resolve(),
  };
  const secrets = generateSecret();
  const publish = (tenant: string, n: number): Promise<unknown> =>
    sender.publish({ tenant, type: "order.paid", key: "k", data: n });
  const count = (what: string): number => db.prepare(`select count(*) from ${what}`).pluck().get() as number;
  const wellTried = (): number => tried.filter((each) => each === WELL).length;

  await sender.endpoints.create({ tenant: "well", url: `https://${WELL}/`, secrets });
  await sender.endpoints.create({ id: "ep_1", tenant: "big", url: "https://big.example.com/", secrets });
  const rest =
    "tenant, url, secrets, sources, types, ordered_by, retry, dead, max_in_flight, state, because, version";
  db.exec(`
    with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ${ENDPOINTS})
    insert into posthorn_consumer (public_id, ${rest})
    select 'ep_' || n, ${rest} from posthorn_consumer, numbers where public_id = 'ep_1';
    update posthorn_outbox_config set mark = 'another'`);

  const run = new DispatcherRun(store, egress, checkDispatcher({ store, clock }));
  const ended = run.untilStopped();
  const turn = async (): Promise<void> => {
    await clock.advance(5);
    await new Promise((next) => setImmediate(next));
  };
  for (let n = 1; n <= 10; n++) {
    await publish("well", n);
    while (wellTried() < n) await turn();
  }
  for (let n = 0; n < EVENTS; n++) await publish("big", n);
  expect(count("posthorn_stage")).toBeGreaterThan(0);
  const waited: number[] = [];
  for (let n = 11; n <= 30; n++) {
    const before = tried.length;
    await publish("well", n);
    while (wellTried() < n) await turn();
    waited.push(tried.lastIndexOf(WELL) - before);
  }
  expect(Math.max(...waited)).toBeLessThanOrEqual(MOST_BEFORE);
  run.stop();
  await clock.until(ended, 500);
  file.remove();
});
