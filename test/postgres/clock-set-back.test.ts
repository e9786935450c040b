import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { Claim, NextState } from "../../library/src/lanes/lane-store.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

// The clock of the server cannot be turned here. What a clock that ran a day ahead has left behind can be written: every
// time of a lane, and the time that was seen, a day later than they are.

const LEASE_MS = 30_000;
const RETRY_MS = 20_000;
const RETRY = { state: "due", afterMs: RETRY_MS, counts: true } as const;

describe.each(drivers)("a clock that was set back, on $name", async (driver) => {
  const pool = driver.open(await freshDatabase());

  // A new one each time: a process looks at the clock once a second.
  const store = () => postgresStore({ client: pool.client });

  const setBack = async (by: string): Promise<void> => {
    for (const table of ["lane_state", "loose_delivery"]) {
      await pool.rows(`
        update posthorn.${table} set ready_at = ready_at + interval '${by}',
          leased_at = leased_at + interval '${by}', leased_until = leased_until + interval '${by}'`);
    }
    await pool.rows(`update posthorn.consumer set paused_until = paused_until + interval '${by}'`);
    await pool.rows(`update posthorn.seen_time set seen_at = clock_timestamp() + interval '${by}'`);
  };

  const claim = async (by = store()): Promise<readonly Claim[]> => {
    const run = { maxEvents: 1, maxBytes: 1_000_000 };
    const request = {
      worker: "worker_1",
      limit: 100,
      leaseMs: LEASE_MS,
      of: { kind: "endpoint" } as const,
      inFlight: new Map(),
      run,
    };
    return (await by.claim({ ...request, alone: false })).claims;
  };

  const settle = (claims: readonly Claim[], rest: NextState): Promise<unknown> =>
    store().settle({
      worker: "worker_1",
      leaseMs: LEASE_MS,
      run: { maxEvents: 1, maxBytes: 1 },
      settlements: claims.map((each) => settlementOf(each, { acknowledged: 0, rest })),
    });

  async function publish(): Promise<void> {
    await emptyOutbox(pool);
    const outbox = store();
    await outbox.addEndpoint(endpointFor());
    await outbox.append([await eventOf({ id: "e1", key: "a" }), await eventOf({ id: "e2", key: undefined })]);
    while ((await outbox.sequence()).more);
  }

  it("what was sequenced while it ran ahead is due at once", async () => {
    await publish();
    await setBack("1 day");
    expect((await claim()).map(({ run }) => run[0].event.id).toSorted()).toEqual(["e1", "e2"]);
  });

  it("a handler that was paused while it ran ahead rests as long as it was told to, and not a day more", async () => {
    await publish();
    const handler = { id: "hnd_a", sources: ["*"], types: ["*"], order: "key", dead: undefined } as const;
    await store().register([handler]);
    await store().pauseHandler("hnd_a", { forMs: 60_000, because: "down" });
    await setBack("1 day");
    await claim();
    const [paused] = await store().readHandlers();
    expect((paused?.pausedUntil?.getTime() ?? 0) - Date.now()).toBeLessThan(3_600_000);
    expect(paused?.state).toBe("paused");
  });

  it("a retry waits as long as it was told to, and not a day more; of several processes one moves it", async () => {
    await publish();
    await settle(await claim(), RETRY);
    await setBack("1 day");
    const processes = [store(), store(), store()];
    expect(await Promise.all(processes.map((each) => claim(each)))).toEqual([[], [], []]);
    const dueMs = (await store().untilDue({ kind: "endpoint" })) ?? 0;
    expect(dueMs).toBeGreaterThan(RETRY_MS - 5000);
    expect(dueMs).toBeLessThanOrEqual(RETRY_MS);
  });

  it("a lease that was taken while it ran ahead holds to its own end, and its lapse lasted as long as the lease", async () => {
    await publish();
    const held = await claim();
    await setBack("1 day");
    expect(await claim()).toEqual([]);
    const dueMs = (await store().untilDue({ kind: "endpoint" })) ?? 0;
    expect([dueMs > LEASE_MS - 5000, dueMs <= LEASE_MS]).toEqual([true, true]);
    const [row] = await pool.rows(
      "select extract(epoch from leased_until - leased_at)::int4 as s from posthorn.lane_state",
    );
    expect(Number(row?.["s"])).toBe(LEASE_MS / 1000);
    expect(await settle(held, RETRY)).toMatchObject([{ kind: "settled" }, { kind: "settled" }]);
  });

  it("a lease that began by the right clock is not ended", async () => {
    await publish();
    expect(await claim()).toHaveLength(2);
    await pool.rows("update posthorn.seen_time set seen_at = clock_timestamp() + interval '1 day'");
    expect(await claim()).toEqual([]);
    expect(await store().untilDue({ kind: "endpoint" })).toBeGreaterThan(LEASE_MS - 5000);
  });

  it("by less than a second moves nothing; and the time that is seen goes on", async () => {
    await publish();
    await settle(await claim(), RETRY);
    await setBack("700 milliseconds");
    await claim();
    expect(await store().untilDue({ kind: "endpoint" })).toBeGreaterThan(RETRY_MS - 5000);
    await pool.rows("update posthorn.seen_time set seen_at = clock_timestamp() - interval '1 hour'");
    await claim();
    const [row] = await pool.rows(
      "select (clock_timestamp() - seen_at < interval '10 seconds')::text as late from posthorn.seen_time",
    );
    expect(row?.["late"]).toBe("true");
  });
});
