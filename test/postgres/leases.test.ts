import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { deliveryIdOf } from "../../library/src/lanes/delivery-id.js";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox, moveIntoPast } from "./outbox-harness.js";

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

describe.each(drivers)("leases on $name", async (driver) => {
  const url = await freshDatabase();
  const pool = driver.open(url);
  const store = postgresStore({ client: pool.client });

  /** A lane of two events and a loose delivery, all of them claimed. */
  async function claimed(): Promise<{ readonly lane: Claim; readonly loose: Claim }> {
    await emptyOutbox(pool);
    await store.addEndpoint(endpointFor());
    await store.append([await eventOf({ id: "e1", key: "k" }), await eventOf({ id: "e2", key: "k" })]);
    await store.append([await eventOf({ id: "loose", key: undefined })]);
    while ((await store.sequence()).more);
    const { claims } = await store.claim(request);
    const [lane, loose] = claims.toSorted((a, b) => a.kind.localeCompare(b.kind)) as [Claim, Claim];
    return { lane, loose };
  }

  const leaseEnds = async (): Promise<string[]> => {
    const rows = await pool.rows(`
      select round(extract(epoch from leased_until - clock_timestamp()) / 60)::text as minutes
      from (
        select leased_until, ready_at, leased_at from posthorn.lane_state
        union all select leased_until, ready_at, leased_at from posthorn.loose_delivery
      ) as leased where leased_until = ready_at and leased_at <= clock_timestamp()`);
    return rows.map(({ minutes }) => minutes ?? "");
  };

  it("that are extended are held from now on, under their epochs, and begin when they began", async () => {
    const { lane, loose } = await claimed();
    await moveIntoPast(pool, 50_000);
    expect(await store.extend("worker_1", [loose, lane], 600_000)).toEqual([true, true]);
    expect(await leaseEnds()).toEqual(["10", "10"]);
    const began = await pool.rows(`
      select (leased_at < clock_timestamp() - interval '45 s')::text as before from posthorn.lane_state
      union all select (leased_at < clock_timestamp() - interval '45 s')::text from posthorn.loose_delivery`);
    expect(began).toEqual([{ before: "true" }, { before: "true" }]);
    expect((await store.claim({ ...request, worker: "worker_2" })).claims).toEqual([]);
    const settlements = [lane, loose].map((claim) => settlementOf(claim, { acknowledged: 1 }));
    expect(await store.settle({ ...request, settlements })).toMatchObject([
      { kind: "settled" },
      { kind: "settled" },
    ]);
  });

  it("that have ended and passed to nobody are extended; those of another worker or another epoch are not", async () => {
    const { lane, loose } = await claimed();
    await moveIntoPast(pool, 120_000);
    expect(await store.extend("worker_1", [lane], 60_000)).toEqual([true]);
    expect(await store.extend("worker_2", [lane], 60_000)).toEqual([false]);
    expect(await store.extend("worker_1", [{ ...lane, epoch: lane.epoch - 1n }], 60_000)).toEqual([false]);
    const [taken] = (await store.claim({ ...request, worker: "worker_2" })).claims as [Claim];
    expect(taken.kind).toBe("loose");
    expect(await store.extend("worker_1", [lane, loose], 60_000)).toEqual([true, false]);
    expect(await store.extend("worker_1", [], 60_000)).toEqual([]);
  });

  it("that lapse are attempts that began with their lease and lasted as long", async () => {
    const { lane } = await claimed();
    await moveIntoPast(pool, 120_000);
    await store.claim({ ...request, worker: "worker_2" });
    const [attempt] = await store.attempts(
      deliveryIdOf({ kind: "lane", lane: lane.id, sequence: lane.run[0].sequence }),
    );
    expect(attempt).toMatchObject({ number: 1, outcome: "lapsed", durationMs: 60_000 });
    const agoMs = Date.now() - Number(attempt?.startedAt);
    expect(agoMs).toBeGreaterThanOrEqual(120_000);
    expect(agoMs).toBeLessThan(150_000);
  });

  it("that have ended do not keep a skip from taking effect: what the worker still says is stale", async () => {
    const { lane } = await claimed();
    const [{ sequence }] = lane.run;
    await moveIntoPast(pool, 120_000);
    expect(await store.skip(lane.id, sequence)).toBe("skipped");
    const settlements = [settlementOf(lane, { acknowledged: 1 })];
    expect(await store.settle({ ...request, settlements })).toEqual([{ kind: "stale" }]);
    const attempts = await store.attempts(deliveryIdOf({ kind: "lane", lane: lane.id, sequence }));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["lapsed"]);
    const { claims } = await store.claim({ ...request, worker: "worker_2" });
    expect(claims.map(({ run: [{ event }] }) => event.id).toSorted()).toEqual(["e2", "loose"]);
  });

  it("that are given back take the skip that an operator intended with them", async () => {
    const { lane } = await claimed();
    expect(await store.skip(lane.id, lane.run[0].sequence)).toBe("intended");
    expect(await store.release("worker_1", [])).toBe(2);
    const cancelled = await pool.rows("select because, seq::text as seq from posthorn.cancelled");
    expect(cancelled).toEqual([{ because: "skipped", seq: String(lane.run[0].sequence) }]);
  });

  it("are settled once, also where one call says it twice", async () => {
    const { lane } = await claimed();
    const settlements = [
      settlementOf(lane, { acknowledged: 1 }),
      settlementOf(lane, { acknowledged: 1, next: true }),
    ];
    expect(await store.settle({ ...request, settlements })).toEqual([
      { kind: "settled", next: undefined },
      { kind: "stale" },
    ]);
  });

  it("of a paused endpoint that answers 410 disable it", async () => {
    const { lane } = await claimed();
    await store.changeEndpoint("ep_a", { state: "paused" });
    const rest = { state: "disabled", because: "410" } as const;
    await store.settle({ ...request, settlements: [settlementOf(lane, { rest })] });
    expect(await store.readEndpoints(["ep_a"])).toMatchObject([{ state: "disabled", because: "410" }]);
  });
});
