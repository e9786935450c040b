import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { storedEvent } from "../../library/src/testing/conformance/outbox/workers/handlers.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

const handler = { id: "hnd_a", sources: ["*"], types: ["*"], order: "key", dead: undefined } as const;
const request = {
  worker: "worker_1",
  limit: 100,
  leaseMs: 60_000,
  of: { kind: "handler", ids: ["hnd_a"] } as const,
  inFlight: new Map(),
  run: { maxEvents: 8, maxBytes: 1_000_000 },
  alone: false,
};

describe.each(drivers)("empty lanes, on $name", async (driver) => {
  const pool = driver.open(await freshDatabase());
  const store = postgresStore({ client: pool.client });

  async function open(): Promise<void> {
    await emptyOutbox(pool);
    await store.register([handler]);
  }

  async function come(...keys: readonly string[]): Promise<void> {
    for (const [n, key] of keys.entries()) {
      const event = await storedEvent(`${key}_${n}`, { key });
      const names = [{ name: `stripe/id/${key}/${n}/${Math.random()}`, bodyHash: undefined }] as const;
      await store.ingest({ event, names, windowS: undefined });
    }
    while ((await store.sequence()).more);
  }

  /** As a handler's own transaction does: it leaves no attempt. */
  async function apply(claims: readonly Claim[]): Promise<void> {
    const settlements = claims.map((each) =>
      settlementOf(each, { acknowledged: each.run.length, attempts: [] }),
    );
    await store.settle({ ...request, settlements });
  }

  const claim = async (): Promise<readonly Claim[]> => (await store.claim(request)).claims;

  /** Of lanes, their states and events. */
  const left = async (): Promise<number[]> => {
    const [row = {}] = await pool.rows(`
      select (select count(*) from posthorn.lane)::text as a, (select count(*) from posthorn.lane_state)::text as b,
        (select count(*) from posthorn.event)::text as c`);
    return ["a", "b", "c"].map((name) => Number(row[name]));
  };

  const removeOld = () => store.removeOld({ kind: "events", windowMs: 0, limit: 100 });

  it("of handlers go with their events, though no attempt tells of them; one in which something waits stays", async () => {
    await open();
    await store.register([{ ...handler, id: "hnd_b", sources: ["github"] }]);
    await come(...Array.from({ length: 20 }, (_, n) => `k${n}`));
    await apply(await claim());
    await come("k1");
    expect(await left()).toEqual([20, 20, 21]);
    expect(await removeOld()).toMatchObject({ removed: 20 + 19 });
    expect(await left()).toEqual([1, 1, 1]);
    await apply(await claim());
    await removeOld();
    expect(await left()).toEqual([0, 0, 0]);
  });

  it("of a handler that is removed go with it: what was applied there leaves nothing by which they would be found", async () => {
    await open();
    await come("applied", "waits");
    const claims = await claim();
    await apply(claims.filter(({ lane }) => lane?.key === "applied"));
    await pool.rows("update posthorn.consumer set seen_at = null");
    expect(await store.removeHandler("hnd_a", { unseenForMs: 0, because: "gone" })).toBe("removed");
    while ((await store.sequence()).more);
    const [kept] = await pool.rows("select key from posthorn.lane");
    expect([kept, await left()]).toEqual([{ key: "waits" }, [1, 0, 2]]);
    await removeOld();
    expect(await left()).toEqual([0, 0, 0]);
  });

  it("of which one comes to be empty while others are removed stay, with the attempt that tells of it, and are not waited for", async () => {
    await emptyOutbox(pool);
    await store.addEndpoint(endpointFor());
    await store.append([
      await eventOf({ id: "first", key: "busy" }),
      await eventOf({ id: "other", key: "other" }),
    ]);
    while ((await store.sequence()).more);
    const endpoints = { ...request, of: { kind: "endpoint" } as const };
    const { claims } = await store.claim(endpoints);
    const settlements = claims.map((each) => settlementOf(each, { acknowledged: 1 }));
    await store.settle({ ...endpoints, settlements });
    await store.append([await eventOf({ id: "last", key: "busy" })]);
    while ((await store.sequence()).more);
    // As a settlement does that has not committed yet.
    const settling = await pool.begin();
    const busy = "(select lane_id from posthorn.lane where key = 'busy')";
    for (const statement of [
      `insert into posthorn.attempt (lane_id, seq, round, no, event_id, started_at, duration_ms, outcome)
        select lane_id, seq, round, 1, event_id, now(), 1, 'acknowledged' from posthorn.delivery where lane_id = ${busy}`,
      `update posthorn.lane_state set head_seq = next_seq, ready_at = null where lane_id = ${busy}`,
      `delete from posthorn.delivery where lane_id = ${busy}`,
    ])
      await pool.inside(settling.client, statement);
    let removed = false;
    const removal = removeOld().finally(() => (removed = true));
    const waiting = async (): Promise<boolean> => {
      const [row] = await pool.rows(`select count(*)::text as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      return row?.["n"] !== "0";
    };
    await expect.poll(async () => removed || (await waiting())).toBe(true);
    await settling.commit();
    await removal;
    const lanes = await pool.rows(
      "select key, (select count(*)::text from posthorn.attempt) as told from posthorn.lane",
    );
    expect(lanes).toEqual([{ key: "busy", told: "1" }]);
  });
});
