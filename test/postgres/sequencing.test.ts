import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import type { Signal } from "../../library/src/observer.js";
import { clientKind, poolOf } from "../../library/src/stores/postgres/client/client.js";
import type { Session } from "../../library/src/stores/postgres/client/database.js";
import { OwnTransactions } from "../../library/src/stores/postgres/client/own-transaction.js";
import { MAX_DELIVERIES, Sequencer } from "../../library/src/stores/postgres/lanes/sequence.js";
import { tablesIn } from "../../library/src/stores/postgres/schema/tables.js";
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

const MANY = 12_000;

const placeOf = ({ id, run: [{ sequence }] }: Claim): string => `${id} ${sequence}`;

describe.each(drivers)("sequencing on $name", async (driver) => {
  const url = await freshDatabase();
  const pool = driver.open(url);
  const one = postgresStore({ client: pool.client });
  const two = postgresStore({ client: driver.open(url).client });

  const count = async (what: string): Promise<number> =>
    Number((await pool.rows(`select count(*)::text as n from posthorn.${what}`))[0]?.["n"]);

  /** Deliveries of one event, by its id. */
  const placesOf = (id: string): Promise<number> =>
    count(`delivery join posthorn.event on event.id = event_id where public_id = '${id}'`);

  /** Endpoints of a tenant, as many as no test could add one by one. */
  async function manyEndpoints(tenant: string): Promise<void> {
    await one.addEndpoint(endpointFor({ id: "ep_model", tenant }));
    await pool.rows(`
      insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
      select 'ep_' || n, tenant, definition, ordered_by, max_in_flight, state, 1
      from posthorn.consumer, generate_series(2, ${MANY}) as n where public_id = 'ep_model'`);
    await pool.rows("update posthorn.outbox_config set mark = gen_random_uuid()");
  }

  it(`one event with ${MANY} places lets another tenant's pass after at most ${MAX_DELIVERIES} of them, and its own tenant's come behind it everywhere`, async () => {
    await emptyOutbox(pool);
    await manyEndpoints("big");
    await one.addEndpoint(endpointFor({ id: "ep_small", tenant: "small" }));
    await one.append([
      await eventOf({ id: "all", tenant: "big" }),
      await eventOf({ id: "next", tenant: "big" }),
    ]);
    expect(await one.sequence()).toMatchObject({ events: 1, more: true });
    expect([await placesOf("all"), await placesOf("next")]).toEqual([MAX_DELIVERIES, 0]);
    await one.append([await eventOf({ id: "other", tenant: "small" })]);
    // Another process goes on where the first one stopped.
    await two.sequence();
    expect(await placesOf("other")).toBe(1);
    expect(await placesOf("all")).toBeLessThanOrEqual(2 * MAX_DELIVERIES);
    for (let more = true; more;) {
      const isDone = (await placesOf("all")) === MANY;
      expect((await placesOf("next")) > 0 && !isDone).toBe(false);
      ({ more } = await two.sequence());
    }
    expect([await placesOf("all"), await placesOf("next"), await count("stage")]).toEqual([MANY, MANY, 0]);
    const inOrder = `lane_state as lane
      join posthorn.delivery as first on first.lane_id = lane.lane_id and first.seq = head_seq
      join posthorn.delivery as second on second.lane_id = lane.lane_id and second.seq = head_seq + 1
      where first.event_id < second.event_id`;
    expect(await count(inOrder)).toBe(MANY);
  });

  it("an endpoint of one tenant is added while another tenant's event has a part of its places", async () => {
    await emptyOutbox(pool);
    await manyEndpoints("big");
    await one.append([await eventOf({ id: "all", tenant: "big" })]);
    await one.sequence();
    expect(await two.addEndpoint(endpointFor({ id: "ep_small", tenant: "small" }))).toBe(true);
    expect(await placesOf("all")).toBe(MAX_DELIVERIES);
    // One of its own tenant waits, or the event would go to some of the endpoints by the old ones, to some by the new.
    expect(await two.addEndpoint(endpointFor({ id: "ep_new", tenant: "big" }))).toBe(true);
    expect([await placesOf("all"), await count("stage")]).toEqual([MANY, 0]);
  });

  it("what cannot be sequenced is set aside by its own id, whichever event is the first of the stage by then", async () => {
    await emptyOutbox(pool);
    await one.addEndpoint(endpointFor());
    const host = await pool.begin();
    await one.write([await eventOf({ id: "early" })], host.client as never);
    await one.append([await eventOf({ id: "bad" })]);
    const refuse = `
      create function refuse_bad() returns trigger language plpgsql as $$ begin
        if exists (select from posthorn.event where id = new.event_id and public_id = 'bad') then
          raise exception 'bad';
        end if;
        return new;
      end $$;
      create trigger refuse_bad before insert on posthorn.delivery for each row execute function refuse_bad()`;
    await pool.rows(refuse);
    // The first event of the stage is committed between the step that failed and the transaction that sets aside.
    class Committing extends OwnTransactions {
      override async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
        if ((await count("stage")) === 1) await host.commit();
        return super.run(work);
      }
    }
    const signals: Signal[] = [];
    const sequencer = new Sequencer({
      transactions: new Committing(poolOf(clientKind(pool.client), true), 5000),
      tables: tablesIn('"posthorn"'),
      observer: (signal) => signals.push(signal),
    });
    try {
      while ((await sequencer.sequence()).more);
    } finally {
      await pool.rows("drop function refuse_bad() cascade");
    }
    expect(signals).toMatchObject([{ kind: "sequence_failed", id: "bad" }]);
    expect([await placesOf("early"), await placesOf("bad"), await count("stage_dead")]).toEqual([1, 0, 1]);
  });

  it("after a failover that lost the addition of an endpoint, its number is another's, and what was remembered of it is not believed", async () => {
    await emptyOutbox(pool);
    await one.addEndpoint(endpointFor({ id: "ep_a", types: ["never"] }));
    const [before] = await pool.rows("select mark::text from posthorn.outbox_config");
    await one.addEndpoint(endpointFor({ id: "ep_lost" }));
    await one.append([await eventOf({ id: "e1" })]);
    while ((await one.sequence()).more);
    expect(await placesOf("e1")).toBe(1);
    // The standby that takes over knows nothing of all this.
    await pool.rows(
      "truncate posthorn.event, posthorn.stage, posthorn.lane, posthorn.lane_state, posthorn.delivery restart identity",
    );
    await pool.rows("delete from posthorn.consumer where public_id = 'ep_lost'");
    await pool.rows("alter table posthorn.consumer alter column id restart with 2");
    await pool.rows(`update posthorn.outbox_config set mark = '${before?.["mark"]}'`);
    await two.addEndpoint(endpointFor({ id: "ep_other", types: ["never"] }));
    await one.append([await eventOf({ id: "e2" })]);
    while ((await one.sequence()).more);
    expect([await placesOf("e2"), await count("stage")]).toEqual([0, 0]);
  });

  it("after a failover that lost a claim, its settlement does not settle the event that has its place since", async () => {
    await emptyOutbox(pool);
    await one.addEndpoint(endpointFor());
    await one.append([await eventOf({ id: "lost" }), await eventOf({ id: "lost_too" })]);
    while ((await one.sequence()).more);
    const [first] = (await one.claim(request)).claims as [Claim];
    await pool.rows(
      "truncate posthorn.event, posthorn.lane, posthorn.lane_state, posthorn.delivery restart identity",
    );
    await pool.rows("alter table posthorn.stage alter column id restart with 1");
    await one.append([await eventOf({ id: "now" }), await eventOf({ id: "then" })]);
    while ((await one.sequence()).more);
    const [second] = (await one.claim(request)).claims as [Claim];
    expect(placeOf(second)).toBe(placeOf(first));
    const settlements = [settlementOf(first, { acknowledged: 1 })];
    expect(await one.settle({ ...request, settlements })).toEqual([{ kind: "stale" }]);
    expect(await one.extend("worker_1", [first], 60_000)).toEqual([false]);
    expect([await placesOf("now"), await placesOf("then")]).toEqual([1, 1]);
  });

  it("a delivery whose event was deleted by hand is dead, loudly, and no other waits for it", async () => {
    await emptyOutbox(pool);
    const signals: Signal[] = [];
    const observed = postgresStore({ client: pool.client, observer: (signal) => signals.push(signal) });
    await observed.addEndpoint(endpointFor());
    await observed.append([
      await eventOf({ id: "gone", key: "a" }),
      await eventOf({ id: "behind", key: "a" }),
      await eventOf({ id: "other", key: "b" }),
      await eventOf({ id: "loose_gone", key: undefined }),
      await eventOf({ id: "loose", key: undefined }),
    ]);
    await observed.append([await eventOf({ id: "unplaced", key: "c" })]);
    while ((await observed.sequence()).more);
    await observed.append([await eventOf({ id: "staged_gone", key: "c" })]);
    await pool.rows("delete from posthorn.event where public_id like '%gone'");
    const claimed = (await observed.claim(request)).claims.map(({ run: [{ event }] }) => event.id);
    expect(claimed.toSorted()).toEqual(["loose", "other", "unplaced"]);
    expect((await observed.claim(request)).claims).toEqual([]);
    const letters = (await observed.deadLetters({ limit: 10 })).items;
    expect(letters.map(({ because, eventId, blocks }) => [because, eventId, blocks])).toEqual([
      ["event_missing", "", false],
      ["event_missing", "", true],
    ]);
    expect(signals).toMatchObject([{ kind: "store_failed" }, { kind: "store_failed" }]);
    // The staged one is set aside by whoever sequences, also on the way to a change of endpoints.
    expect(await observed.changeEndpoint("ep_a", { types: ["*"] })).toMatchObject({ version: 2 });
    expect([await count("stage"), await count("stage_dead")]).toEqual([0, 1]);
    const [lane] = (await observed.blockedLanes({ limit: 10 })).items;
    expect(await observed.skip(lane?.id ?? 0n, lane?.head ?? 0n)).toBe("skipped");
    expect((await observed.claim(request)).claims).toMatchObject([{ run: [{ event: { id: "behind" } }] }]);
  });

  it("an endpoint with 30,000 waiting is gone at once, and is cancelled in steps that other tenants' events do not wait for", async () => {
    await emptyOutbox(pool);
    await one.addEndpoint(endpointFor({ id: "ep_full", tenant: "big" }));
    await one.addEndpoint(endpointFor({ id: "ep_small", tenant: "small" }));
    await one.append([await eventOf({ id: "head", tenant: "big" })]);
    while ((await one.sequence()).more);
    const [head] = (await one.claim(request)).claims as [Claim];
    await pool.rows(`
      insert into posthorn.delivery (lane_id, seq, event_id, round)
      select lane_id, head_seq + n, event_id, 1 from posthorn.lane_state
      join posthorn.delivery using (lane_id), generate_series(1, 29999) as n`);
    await pool.rows("update posthorn.lane_state set next_seq = head_seq + 30000");
    expect(await one.removeEndpoint("ep_full")).toBe(true);
    expect(await count("delivery")).toBeGreaterThan(5000);
    const settlements = [settlementOf(head, { acknowledged: 1 })];
    expect(await one.settle({ ...request, settlements })).toEqual([{ kind: "stale" }]);
    await one.append([
      await eventOf({ id: "late", tenant: "big" }),
      await eventOf({ id: "other", tenant: "small" }),
    ]);
    expect(await two.sequence()).toMatchObject({ events: 2, more: true });
    expect([await placesOf("other"), await placesOf("late")]).toEqual([1, 0]);
    expect((await two.claim(request)).claims.map(({ run: [{ event }] }) => event.id)).toEqual(["other"]);
    while ((await two.sequence()).more);
    expect([await placesOf("head"), await count("cancelled"), await count("lane_state")]).toEqual([
      0, 30_000, 1,
    ]);
    expect(await count("consumer where removed_at is not null and cleared_at is null")).toBe(0);
  });
});
