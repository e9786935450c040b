import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import type { DeliveryStore } from "../../library/src/delivery/delivery-store.js";
import { deliveryIdOf } from "../../library/src/lanes/delivery-id.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

const run = { maxEvents: 1, maxBytes: 1_000_000 };
const request = {
  worker: "worker_1",
  limit: 100,
  leaseMs: 60_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run,
  alone: false,
};

async function sequenceAll(store: Pick<DeliveryStore, "sequence">): Promise<void> {
  while ((await store.sequence()).more);
}

describe.each(drivers)("what others left half done, on $name", async (driver) => {
  const url = await freshDatabase();
  const pool = driver.open(url);
  const one = postgresStore({ client: pool.client });
  const two = postgresStore({ client: driver.open(url).client });

  const counts = async (...tables: string[]): Promise<number[]> => {
    const found = await Promise.all(
      tables.map((table) => pool.rows(`select count(*)::text as n from posthorn.${table}`)),
    );
    return found.map(([row]) => Number(row?.["n"]));
  };

  /** An endpoint with lanes and a loose delivery, whose remover died before it had cancelled any of them. */
  async function halfRemoved(): Promise<void> {
    await emptyOutbox(pool);
    await one.addEndpoint(endpointFor());
    await one.append(
      await Promise.all(Array.from({ length: 9 }, (_, n) => eventOf({ id: `e${n}`, key: `k${n % 3}` }))),
    );
    await one.append([await eventOf({ id: "loose", key: undefined })]);
    await sequenceAll(one);
    await pool.rows("update posthorn.consumer set removed_at = clock_timestamp()");
    await pool.rows("update posthorn.outbox_config set mark = gen_random_uuid()");
  }

  const left = () => counts("lane_state", "delivery", "loose_delivery", "cancelled");
  const uncleared = () => counts("consumer where removed_at is not null and cleared_at is null");

  it("the removal of an endpoint is finished by the next process that sequences", async () => {
    await halfRemoved();
    expect(await left()).toEqual([3, 9, 1, 0]);
    await two.append([await eventOf({ id: "later", key: "k" })]);
    await sequenceAll(two);
    expect([await left(), await uncleared()]).toEqual([[0, 0, 0, 10], [0]]);
  });

  it("the removal of an endpoint is finished by the next removal, whichever that is of", async () => {
    await halfRemoved();
    expect(await two.removeEndpoint("ep_nobody")).toBe(false);
    expect([await left(), await uncleared()]).toEqual([[0, 0, 0, 10], [0]]);
  });

  it("of several that finish one removal at once, none cancels anything twice", async () => {
    await halfRemoved();
    await Promise.all([one, two, one, two].map((store) => store.removeEndpoint("ep_nobody")));
    expect([await left(), await uncleared()]).toEqual([[0, 0, 0, 10], [0]]);
  });

  it("an endpoint that is added under the id of one whose removal goes on has lanes of its own", async () => {
    await halfRemoved();
    await two.addEndpoint(endpointFor());
    await two.append([await eventOf({ id: "new", key: "k0" })]);
    await sequenceAll(two);
    const { claims } = await two.claim(request);
    expect(claims.map(({ run: [{ event }] }) => event.id)).toEqual(["new"]);
    expect((await left()).slice(0, 2)).toEqual([1, 1]);
  });

  it("a redrive that is staged while its endpoint is removed is cancelled", async () => {
    await emptyOutbox(pool);
    await one.addEndpoint(endpointFor());
    await one.append([await eventOf({ id: "e1", key: "k" }), await eventOf({ id: "e2", key: "k" })]);
    await sequenceAll(one);
    const [head] = (await one.claim(request)).claims as [Claim];
    const dead = { state: "dead", because: "refused", policy: "skip" } as const;
    await one.settle({ ...request, settlements: [settlementOf(head, { rest: dead })] });
    // Committed after the removal has looked at the stage, as a redrive of another process is.
    await one.redrive(deliveryIdOf({ kind: "lane", lane: head.id, sequence: 1n }));
    await pool.rows("update posthorn.consumer set removed_at = clock_timestamp()");
    await pool.rows("update posthorn.outbox_config set mark = gen_random_uuid()");
    await sequenceAll(two);
    const rows = await pool.rows(`
      select public_id as event, round::text, because from posthorn.cancelled
      join posthorn.event on event.id = cancelled.event_id order by cancelled.event_id`);
    expect(rows).toEqual([
      { event: "e1", round: "2", because: "endpoint_removed" },
      { event: "e2", round: "1", because: "endpoint_removed" },
    ]);
  });

  it("a worker's leases are given back whether this process knows of them or not, and those of others are not", async () => {
    for (const releasing of [one, two]) {
      await emptyOutbox(pool);
      await one.addEndpoint(endpointFor());
      await one.append(
        await Promise.all(Array.from({ length: 6 }, (_, n) => eventOf({ id: `e${n}`, key: `k${n}` }))),
      );
      await one.append([await eventOf({ id: "loose", key: undefined })]);
      await sequenceAll(one);
      const worker = `worker_${releasing === one ? "known" : "unknown"}`;
      const mine = (await one.claim({ ...request, worker, limit: 4 })).claims;
      const others = (await one.claim({ ...request, worker: "worker_other" })).claims;
      expect([mine.length, others.length]).toEqual([4, 3]);
      const [held, settled] = mine as [Claim, Claim];
      await one.settle({ ...request, worker, settlements: [settlementOf(settled, { acknowledged: 1 })] });
      expect(await releasing.release(worker, [held])).toBe(2);
      expect(await releasing.release(worker, [held])).toBe(0);
      expect((await two.claim({ ...request, worker: "worker_next" })).claims).toHaveLength(2);
    }
  });
});
