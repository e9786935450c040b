import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import type { DeliveryStore } from "../../library/src/delivery/delivery-store.js";
import type { Signal } from "../../library/src/observer.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import type { TestPool } from "./drivers.js";
import { drivers } from "./drivers.js";
import { createLossyProxy } from "./lossy-proxy.js";
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

function open(pool: TestPool, more: { prepare?: boolean; observer?: (signal: Signal) => void } = {}) {
  return postgresStore({ client: pool.client, ...more });
}

async function sequenceAll(store: Pick<DeliveryStore, "sequence">): Promise<void> {
  while ((await store.sequence()).more);
}

async function claimIds(store: DeliveryStore): Promise<string[]> {
  const { claims } = await store.claim(request);
  return claims.map(({ run: [{ event }] }) => event.id).toSorted();
}

function acknowledge(store: DeliveryStore, claims: readonly Claim[], next = false) {
  const settlements = claims.map((claim) => settlementOf(claim, { acknowledged: claim.run.length, next }));
  return store.settle({ worker: "worker_1", leaseMs: 60_000, run, settlements });
}

function eventsOf(count: number, given: (n: number) => Partial<OutgoingEvent> = () => ({})) {
  return Promise.all(
    Array.from({ length: count }, (_, n) => {
      const { contentHash: _hash, ...rest } = given(n);
      return eventOf({ id: `e${n}`, ...rest });
    }),
  );
}

describe.each(drivers)("postgresStore on $name", async (driver) => {
  const url = await freshDatabase();
  const pool = driver.open(url);
  const outbox = open(pool);
  const proxy = await createLossyProxy(url);

  async function fresh(): Promise<void> {
    await emptyOutbox(pool);
    await outbox.addEndpoint(endpointFor());
  }

  const count = async (table: string): Promise<number> =>
    Number((await pool.rows(`select count(*)::text as n from posthorn.${table}`))[0]?.["n"]);

  it("a pool, a connection outside of a transaction and one whose transaction is over are refused", async () => {
    await fresh();
    const events = await eventsOf(1);
    const refused = { code: "store_transaction_required" };
    await expect(outbox.write(events, pool.client as never)).rejects.toMatchObject(refused);
    const transaction = await pool.begin();
    await outbox.write(events, transaction.client as never);
    await transaction.commit();
    await expect(outbox.write(events, transaction.client as never)).rejects.toMatchObject(refused);
    await expect(outbox.write(events, {} as never)).rejects.toMatchObject({
      code: "store_client_unsupported",
    });
    expect(await count("event")).toBe(1);
  });

  it("what a handler of the inbox publishes is committed with its event, or not at all", async () => {
    await fresh();
    const inbox = postgresStore({ client: pool.client });
    const limits = { acquireMs: 1000, signal: AbortSignal.timeout(10_000) };
    const content = { body: Buffer.from("{}"), bodyHash: Buffer.alloc(32), headers: "{}" };
    const key = { tenant: "default", source: "stripe", idPreview: undefined, type: "t", eventAt: undefined };
    const handle = (id: string, fails: boolean) =>
      inbox.accept(
        { ...key, ...content, id, windowS: 60 },
        async (tx) => {
          await outbox.write([await eventOf({ id: `of_${id}` })], tx);
          if (fails) throw new Error("no");
          return { outcome: "success" };
        },
        limits,
      );
    expect(await handle(`bad_${driver.name}`, true)).toMatchObject({ kind: "failed" });
    expect(await handle(`good_${driver.name}`, false)).toMatchObject({ kind: "applied" });
    await sequenceAll(outbox);
    expect(await claimIds(outbox)).toEqual([`of_good_${driver.name}`]);
  });

  it("a write into a transaction that is already lost says so", async () => {
    const transaction = await pool.begin();
    await pool.inside(transaction.client, "select 1 / 0").catch(() => undefined);
    await expect(outbox.write(await eventsOf(1), transaction.client as never)).rejects.toMatchObject({
      code: "store_transaction_aborted",
    });
    await transaction.rollback();
  });

  it("an id that another transaction commits first is a duplicate, or a conflict that takes all of its call back", async () => {
    await fresh();
    const [same, other] = [await eventOf({ id: "x", idGiven: true }), await eventOf({ id: "free" })];
    const changed = await eventOf({ id: "x", idGiven: true, body: Buffer.from("other") });
    const race = async (calls: readonly (readonly OutgoingEvent[])[]) => {
      const [first, second] = [await pool.begin(), await pool.begin()];
      await outbox.write([same], first.client as never);
      const late = outbox.write(calls[0] ?? [], second.client as never);
      const waiting = "from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await expect.poll(() => pool.rows(`select 1 as one ${waiting}`)).toHaveLength(1);
      await first.commit();
      const written = await late;
      await second.commit();
      return written;
    };
    expect(await race([[same, other]])).toEqual(["duplicate", "written"]);
    expect(await count("event")).toBe(2);
    await fresh();
    expect(await race([[changed, other]])).toContain("conflict");
    expect([await count("event"), await count("stage"), await count("outbox_key")]).toEqual([1, 1, 1]);
  });

  it("appends of one moment keep the order of their calls", async () => {
    await fresh();
    const events = await eventsOf(300, (n) => ({ idGiven: n % 3 === 0 }));
    await Promise.all(events.map((event) => outbox.append([event])));
    await sequenceAll(outbox);
    const delivered: string[] = [];
    for (let { claims } = await outbox.claim(request); claims.length > 0;) {
      delivered.push(...claims.map((claim) => claim.run[0].event.id));
      claims = (await acknowledge(outbox, claims, true)).flatMap((each) =>
        each.kind === "settled" && each.next ? [each.next] : [],
      );
    }
    expect(delivered).toEqual(events.map(({ id }) => id));
  });

  it("an event that cannot be sequenced is set aside with an alarm, and stops no other", async () => {
    await fresh();
    const signals: Signal[] = [];
    const observed = open(pool, { observer: (signal) => signals.push(signal) });
    await pool.rows(`
      create function refuse_poison() returns trigger language plpgsql as $$ begin
        if exists (select from posthorn.event where id = new.event_id and public_id = 'e13') then
          raise exception 'poison';
        end if;
        return new;
      end $$;
      create trigger refuse_poison before insert on posthorn.delivery for each row execute function refuse_poison()`);
    try {
      await observed.append(await eventsOf(40, (n) => ({ key: `k${n % 20}` })));
      await sequenceAll(observed);
    } finally {
      await pool.rows("drop function refuse_poison() cascade");
    }
    expect(signals).toMatchObject([{ kind: "sequence_failed", id: "e13", message: "poison" }]);
    expect([await count("stage"), await count("stage_dead"), await count("delivery")]).toEqual([0, 1, 39]);
  });

  it("a change of endpoints that the database refuses fails alone, and sets no event aside", async () => {
    await fresh();
    await outbox.append(await eventsOf(3));
    await expect(outbox.addEndpoint(endpointFor({ id: "ep_b", maxInFlight: 2 ** 40 }))).rejects.toMatchObject(
      { code: "store_unavailable" },
    );
    await sequenceAll(outbox);
    expect([await count("stage_dead"), await count("delivery")]).toEqual([0, 3]);
  });

  it("more deliveries than one transaction should write are written by several", async () => {
    await emptyOutbox(pool);
    for (let n = 0; n < 30; n++) await outbox.addEndpoint(endpointFor({ id: `ep_${n}` }));
    await outbox.append(await eventsOf(400, (n) => ({ key: `k${n % 7}` })));
    await sequenceAll(outbox);
    expect([await count("stage"), await count("delivery")]).toEqual([0, 12_000]);
    expect(await outbox.removeEndpoint("ep_0")).toBe(true);
    expect([await count("delivery"), await count("cancelled")]).toEqual([11_600, 400]);
  });

  /** A store whose one connection has parsed all that a settlement needs, and three claims for it. */
  async function lossyWithClaims() {
    await fresh();
    await outbox.append(await eventsOf(6, (n) => ({ key: `k${n % 3}` })));
    await sequenceAll(outbox);
    const lossy = open(driver.open(proxy.url, { max: 1 }));
    const [first, ...claims] = (await outbox.claim(request)).claims;
    await acknowledge(lossy, first ? [first] : []);
    const settlements = claims.map((claim) => settlementOf(claim, { acknowledged: 1, next: true }));
    return { lossy, claims, settlements };
  }

  it("a lost answer to a settlement is store_unavailable, and release gives back what nobody holds then", async () => {
    const { lossy, settlements } = await lossyWithClaims();
    // The name of the worker stands in the request that has the commit.
    proxy.loseAnswerTo("worker_lost");
    await expect(lossy.settle({ ...request, worker: "worker_lost", settlements })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    const released = (await outbox.release("worker_lost", [])) + (await outbox.release("worker_1", []));
    expect(released).toBe(2);
    expect(await outbox.settle({ ...request, settlements })).toEqual([{ kind: "stale" }, { kind: "stale" }]);
    const recorded = (await count("attempt")) === 3;
    expect(await claimIds(outbox)).toEqual(recorded ? ["e3", "e4", "e5"] : ["e1", "e2", "e3"]);
  });

  it("a settlement that never arrived has changed nothing, and counts when it comes again", async () => {
    const { lossy, settlements } = await lossyWithClaims();
    proxy.loseRequest("worker_lost");
    await expect(lossy.settle({ ...request, worker: "worker_lost", settlements })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(await count("attempt")).toBe(1);
    expect(await outbox.settle({ ...request, settlements })).toMatchObject([
      { kind: "settled" },
      { kind: "settled" },
    ]);
    expect(await count("attempt")).toBe(3);
  });

  it("works without prepared statements", async () => {
    await fresh();
    const plain = open(pool, { prepare: false });
    await plain.append(await eventsOf(3));
    await sequenceAll(plain);
    const { claims } = await plain.claim(request);
    expect(await acknowledge(plain, claims, true)).toMatchObject([
      { kind: "settled", next: { run: [{ sequence: 2n }] } },
    ]);
  });

  it("a schema without tables is store_not_migrated, with the cure", async () => {
    const missing = postgresStore({ client: pool.client, schema: "nowhere" });
    const error = { code: "store_not_migrated", message: expect.stringContaining("migrate(pool)") as string };
    await expect(missing.append(await eventsOf(1))).rejects.toMatchObject(error);
    await expect(missing.claim(request)).rejects.toMatchObject(error);
    await expect(missing.sequence()).rejects.toMatchObject(error);
  });
});

describe.each(drivers)("on $name, where transactions are repeatable read by default", async (driver) => {
  const url = await freshDatabase();
  const owner = driver.open(url);
  await owner.rows(
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation to 'repeatable read'`,
  );
  const [one, two] = [open(driver.open(url)), open(driver.open(url))];

  it("publishers, sequencers, workers and operators meet on the same lanes: nothing is lost, doubled or out of order", async () => {
    await one.addEndpoint(endpointFor({ maxInFlight: 1000 }));
    const delivered = new Map<string, number[]>();
    const rest = { left: 600 };
    const publish = async (from: number): Promise<void> => {
      for (let n = from; n < from + 300; n += 10) {
        await one.append(await eventsOf(10, (at) => ({ id: `p${from}_${n + at}`, key: `k${(n + at) % 8}` })));
      }
    };
    const sequence = async (store: DeliveryStore): Promise<void> => {
      while (rest.left > 0) await store.sequence();
    };
    const work = async (store: DeliveryStore, worker: string): Promise<void> => {
      while (rest.left > 0) {
        const { claims } = await store.claim({ ...request, worker, limit: 5 });
        for (let held = claims; held.length > 0;) {
          for (const {
            lane,
            run: [{ event, sequence: place }],
          } of held) {
            delivered.set(lane?.key ?? "", [...(delivered.get(lane?.key ?? "") ?? []), Number(place)]);
            expect(event.id).toMatch(/^p/);
          }
          rest.left -= held.length;
          const settled = await acknowledge(store, held, true);
          held = settled.flatMap((each) => (each.kind === "settled" && each.next ? [each.next] : []));
        }
      }
    };
    await Promise.all([
      publish(0),
      publish(1000),
      sequence(one),
      sequence(two),
      work(one, "worker_1"),
      work(two, "worker_2"),
    ]);
    const places = [...delivered.values()];
    expect(places.flat()).toHaveLength(600);
    for (const lane of places) expect(lane).toEqual(lane.map((_, n) => (lane[0] ?? 0) + n));
    expect(await owner.rows("select 1 as one from posthorn.delivery")).toEqual([]);
  });
});
