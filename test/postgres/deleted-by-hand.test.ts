import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { deliveryIdOf } from "../../library/src/lanes/delivery-id.js";
import type { DeliveryStore } from "../../library/src/delivery/delivery-store.js";
import { endpointFor, eventOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

const request = {
  worker: "worker_1",
  limit: 100,
  leaseMs: 60_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run: { maxEvents: 1, maxBytes: 1_000_000 },
  alone: false,
};

async function sequenceAll(store: Pick<DeliveryStore, "sequence">): Promise<void> {
  while ((await store.sequence()).more);
}

// As people do who are asked to forget a person: a row is deleted, and what points to it is not.
describe.each(drivers)("rows that somebody deletes by hand, on $name", async (driver) => {
  const pool = driver.open(await freshDatabase());
  const store = postgresStore({ client: pool.client, observer: () => undefined });

  const claimed = async (): Promise<string[]> =>
    (await store.claim(request)).claims.map(({ run: [{ event }] }) => event.id);

  const laneOf = async (key: string): Promise<bigint> => {
    const [row] = await pool.rows(`select lane_id::text as id from posthorn.lane where key = '${key}'`);
    return BigInt(row?.["id"] ?? 0);
  };

  async function publish(...keys: readonly string[]): Promise<void> {
    await store.append(await Promise.all(keys.map((key) => eventOf({ id: `of_${key}`, key }))));
    await sequenceAll(store);
  }

  it("a dead letter whose event is gone can be redriven as often as anybody likes, and no other lane waits for it", async () => {
    await emptyOutbox(pool);
    await store.addEndpoint(endpointFor());
    await publish("gone");
    await pool.rows("delete from posthorn.event");
    const id = deliveryIdOf({ kind: "lane", lane: await laneOf("gone"), sequence: 1n });
    for (const round of [1, 2, 3]) {
      const key = `other_${round}`;
      await publish(key);
      expect(await claimed()).toEqual([`of_${key}`]);
      expect((await store.deadLetters({ limit: 10 })).items).toMatchObject([
        { id, because: "event_missing" },
      ]);
      expect(await store.redrive(id)).toBe("in_place");
    }
    const rounds = await pool.rows("select round::text from posthorn.dead order by round");
    expect(rounds.map(({ round }) => round)).toEqual(["1", "2", "3"]);
  });

  it("a delivery that dies in a round in which it is dead already stops no other lane", async () => {
    await emptyOutbox(pool);
    await store.addEndpoint(endpointFor());
    await publish("gone", "other");
    await pool.rows(`
      insert into posthorn.dead (consumer_id, lane_id, seq, event_id, round, because, attempts, died_at)
      select consumer_id, lane_id, seq, event_id, round, 'exhausted', 1, now()
      from posthorn.delivery join posthorn.lane using (lane_id) where key = 'gone'`);
    await pool.rows("delete from posthorn.event where public_id = 'of_gone'");
    expect(await claimed()).toEqual(["of_other"]);
    const [lane] = (await store.blockedLanes({ limit: 10 })).items;
    expect(lane).toMatchObject({ id: await laneOf("gone"), state: "halted" });
  });

  it("a lane whose deliveries are gone is cancelled with its endpoint, and so are those behind it and the endpoints after it", async () => {
    await emptyOutbox(pool);
    for (const id of ["ep_a", "ep_b"]) await store.addEndpoint(endpointFor({ id }));
    await publish("all_gone", "in_part", "whole");
    await store.append([await eventOf({ id: "left", key: "in_part" })]);
    await sequenceAll(store);
    await pool.rows(`
      delete from posthorn.delivery using posthorn.lane where lane.lane_id = delivery.lane_id
        and (key = 'all_gone' or key = 'in_part' and seq = (select min(seq) from posthorn.delivery as d where d.lane_id = lane.lane_id))`);
    for (const id of ["ep_a", "ep_b"]) expect(await store.removeEndpoint(id)).toBe(true);
    for (let steps = 0; (await store.sequence()).more; steps++) expect(steps).toBeLessThan(20);
    const left = await pool.rows(`
      select (select count(*) from posthorn.lane_state)::text as lanes, (select count(*) from posthorn.cancelled)::text as cancelled,
        (select count(*) from posthorn.consumer where cleared_at is null)::text as uncleared`);
    expect(left).toEqual([{ lanes: "0", cancelled: "4", uncleared: "0" }]);
  });
});
