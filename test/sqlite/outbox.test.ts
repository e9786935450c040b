import type { Database } from "better-sqlite3";
import { createHash } from "node:crypto";
import { migrate, sqliteStore } from "posthorn/sqlite";
import type { SqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Acceptance, Arrival } from "../../library/src/inbox/inbox-store.js";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import type { Signal } from "../../library/src/observer.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { acknowledgement, claimRequest, deliverAll, endpointOf, eventOf } from "./outbox-events.js";

const MAX_SEQUENCE = 2n ** 63n - 1n;

let file: DatabaseFile;
let db: Database;
let store: SqliteStore<Database>;
let signals: Signal[];
const clock = createFakeClock();
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
  signals = [];
  store = sqliteStore({ db, clock, observer: (signal) => signals.push(signal) });
  await store.addEndpoint(endpointOf());
});
afterEach(() => file.remove());

const count = (table: string) => db.prepare(`select count(*) from posthorn_${table}`).pluck().get();
const heads = async () =>
  (await store.claim(claimRequest())).claims.map(({ run }) => run[0].event.id).toSorted();

describe("a write into a transaction of the host", () => {
  it("is refused where no transaction is open, and nothing is written", () => {
    expect(() => store.write([eventOf("e1")], db)).toThrow(
      expect.objectContaining({ code: "store_transaction_required" }),
    );
    expect(count("event")).toBe(0);
  });

  it("is refused on a handle of another database, where nobody would deliver it", async () => {
    const other = createDatabaseFile();
    const handle = other.open();
    await migrate(handle);
    handle.exec("begin");
    expect(() => store.write([eventOf("e1")], handle)).toThrow(
      expect.objectContaining({ code: "store_client_unsupported" }),
    );
    other.remove();
  });

  it("may come from any handle of the same file", async () => {
    const second = file.open();
    second.transaction(() => store.write([eventOf("e1")], second))();
    expect(await heads()).toEqual(["e1"]);
  });

  it("says that the tables are missing, with the cure", () => {
    const empty = createDatabaseFile();
    const handle = empty.open();
    const there = sqliteStore({ db: handle });
    expect(() => handle.transaction(() => there.write([eventOf("e1")], handle))()).toThrow(/migrate\(db\)/);
    empty.remove();
  });

  it("of a handler commits with the event that it handles, or not at all", async () => {
    const kinds = await Promise.all([accept("a", false), accept("b", true), accept("c", false)]);
    expect(kinds.map(({ kind }) => kind)).toEqual(["applied", "failed", "applied"]);
    expect(await heads()).toEqual(["a", "c"]);
  });

  it("of a sequence that no integer can hold is refused, and the transaction goes on without it", () => {
    db.transaction(() => store.write([eventOf("e1")], db))();
    db.prepare("update posthorn_lane set next_seq = ?").run(MAX_SEQUENCE);
    db.transaction(() => {
      expect(() => store.write([eventOf("e2")], db)).toThrow(
        expect.objectContaining({ code: "store_unavailable" }),
      );
    })();
    expect(count("delivery")).toBe(1);
  });
});

describe("appends of the same moment", () => {
  it("share a transaction, and a conflict is its own caller's", async () => {
    await store.append([eventOf("taken", { idGiven: true, key: "first" })]);
    const other = eventOf("taken", { idGiven: true, body: Buffer.from("other") });
    const written = await Promise.all([
      store.append([eventOf("e1")]),
      store.append([eventOf("e2"), other]),
      store.append([eventOf("e3")]),
    ]);
    expect(written).toEqual([["written"], ["written", "conflict"], ["written"]]);
    expect(await deliverAll(store, claimRequest())).toEqual(["taken", "e1", "e3"]);
  });

  it("see an endpoint that another process has changed since", async () => {
    await store.append([eventOf("e1")]);
    const elsewhere = sqliteStore({ db: file.open(), clock });
    await elsewhere.changeEndpoint("ep_a", { types: ["none"] });
    await elsewhere.addEndpoint(endpointOf({ id: "ep_b", order: "none" }));
    await store.append([eventOf("e2")]);
    const { claims } = await store.claim(claimRequest());
    expect(claims.map(({ consumer: endpoint, run }) => [endpoint.id, run[0].event.id])).toEqual([
      ["ep_a", "e1"],
      ["ep_b", "e2"],
    ]);
  });
});

describe("many at once", () => {
  it("are claimed up to the limit and settled in one call, each once and in order", async () => {
    const keys = Array.from({ length: 200 }, (_, n) => `key_${n}`);
    await store.append(keys.flatMap((key) => [1, 2].map((n) => eventOf(`${key}_${n}`, { key }))));
    const { claims } = await store.claim(claimRequest({ limit: 150 }));
    expect(new Set(claims.map(({ lane }) => lane?.key)).size).toBe(150);
    const settled = await store.settle({ ...claimRequest(), settlements: claims.map(acknowledgement) });
    const next = settled.map((each) => (each.kind === "settled" ? each.next?.run[0].event.id : each.kind));
    expect(next).toEqual(claims.map(({ lane }) => `${lane?.key}_2`));
  });

  it("are claimed no further than the endpoint has room, over several turns too", async () => {
    await store.changeEndpoint("ep_a", { maxInFlight: 100 });
    await store.append(Array.from({ length: 200 }, (_, n) => eventOf(`e${n}`, { key: `key_${n}` })));
    const inFlight = new Map([["ep_a", 10]]);
    expect((await store.claim(claimRequest({ limit: 500, inFlight }))).claims).toHaveLength(90);
  });
});

describe("what waits for a removed endpoint", () => {
  it("is cancelled to the last, though it is more than one turn takes", async () => {
    const events = Array.from({ length: 1300 }, (_, n) =>
      eventOf(`e${n}`, { key: n % 2 === 0 ? "k" : undefined }),
    );
    await store.append(events);
    await store.removeEndpoint("ep_a");
    expect([count("cancelled"), count("delivery"), count("loose_delivery"), count("lane")]).toEqual([
      1300, 0, 0, 0,
    ]);
  });

  it("is cancelled by the next to sequence, when the process that removed it has died", async () => {
    await store.append([eventOf("e1"), eventOf("e2", { key: undefined })]);
    db.exec("update posthorn_consumer set removed_at = 1");
    expect(await store.sequence()).toEqual({ events: 0, more: false, cancelled: 2 });
    expect(count("cancelled")).toBe(2);
    expect(db.prepare("select secrets from posthorn_consumer").pluck().all()).toEqual(["[]"]);
  });
});

describe("a lease that is extended", () => {
  const LEASE_MS = claimRequest().leaseMs;

  it.each(["k", undefined])(
    "is kept from now on under the same epoch, and its lapse lasts from its start: key %s",
    async (key) => {
      await store.append([eventOf("e1", { key })]);
      const startedAt = new Date(clock.now());
      const [claim] = (await store.claim(claimRequest())).claims;
      await clock.advance(LEASE_MS - 1);
      expect(await store.extend("worker_1", [claim as Claim], LEASE_MS)).toEqual([true]);
      await clock.advance(LEASE_MS - 1);
      expect(await heads()).toEqual([]);
      await clock.advance(1);
      const [again] = (await store.claim(claimRequest({ worker: "worker_2" }))).claims;
      expect(again?.epoch).toBe((claim?.epoch ?? 0n) + 1n);
      const id = key === undefined ? "dlv_1" : "dlv_1_1";
      expect(await store.attempts(id)).toMatchObject([
        { outcome: "lapsed", startedAt, durationMs: 2 * LEASE_MS - 1 },
      ]);
    },
  );

  it("is another worker's, of another epoch or given back: it is told, and nothing is changed", async () => {
    await store.append([eventOf("e1"), eventOf("e2", { key: "other" })]);
    const [first, second] = (await store.claim(claimRequest())).claims as [Claim, Claim];
    const older = { ...first, epoch: first.epoch - 1n };
    await store.release("worker_1", [first]);
    expect(await store.extend("worker_1", [older, second, first], LEASE_MS)).toEqual([false, false, true]);
    expect(await store.extend("worker_2", [first], LEASE_MS)).toEqual([false]);
    expect(await heads()).toEqual(["e2"]);
  });
});

describe("a new lane", () => {
  it("has the generation of the outbox, and an older one keeps its own", async () => {
    await store.append([eventOf("e1", { key: "old" })]);
    db.exec("update posthorn_outbox_config set generation = 7");
    await store.append([eventOf("e2", { key: "new" }), eventOf("e3", { key: "old" })]);
    const { claims } = await store.claim(claimRequest());
    const generations = new Map(claims.map(({ lane }) => [lane?.key, lane?.generation]));
    expect(generations).toEqual(
      new Map([
        ["old", 1n],
        ["new", 7n],
      ]),
    );
  });
});

describe("a table that somebody has changed by hand", () => {
  it("halts the lane whose head is gone, loudly, and no other", async () => {
    await store.append([eventOf("e1"), eventOf("e2"), eventOf("other", { key: "other" })]);
    db.exec("delete from posthorn_delivery where seq = 1");
    expect(await heads()).toEqual(["other"]);
    expect(signals).toMatchObject([{ kind: "store_failed", operation: "claim" }]);
    const { items } = await store.blockedLanes({ limit: 10 });
    expect(items).toMatchObject([{ state: "halted", head: 1n }]);
    expect(await store.skip(items[0]?.id ?? 0n, 1n)).toBe("skipped");
    expect(await heads()).toEqual(["e2"]);
  });

  it("gives up the delivery whose event is gone, loudly, and no other", async () => {
    await store.append([eventOf("e1"), eventOf("e2"), eventOf("other", { key: "other" })]);
    db.exec("delete from posthorn_event where public_id = 'e1'");
    expect(await heads()).toEqual(["other"]);
    expect(signals).toMatchObject([
      { kind: "store_failed", message: expect.stringMatching(/dlv_1_1 .*event_missing/) as string },
    ]);
    expect((await store.deadLetters({ limit: 10 })).items).toMatchObject([
      { id: "dlv_1_1", because: "event_missing", eventId: "", blocks: true },
    ]);
    expect(await store.skip(1n, 1n)).toBe("skipped");
    expect(await heads()).toEqual(["e2"]);
  });

  it("sends nothing past an event that is gone from the middle of a run", async () => {
    await store.append([eventOf("e1"), eventOf("e2"), eventOf("e3")]);
    db.exec("delete from posthorn_event where public_id = 'e2'");
    const run = { maxEvents: 8, maxBytes: 1_000_000 };
    const { claims } = await store.claim(claimRequest({ run }));
    expect(claims.map((claim) => claim.run.map(({ event }) => event.id))).toEqual([["e1"]]);
  });

  it("sets an event aside that is gone before it had its places, and changes of endpoints go on", async () => {
    await store.append([eventOf("e1", { deliverAt: new Date(clock.now() + 1000) })]);
    db.exec("delete from posthorn_event");
    await clock.advance(1000);
    expect(await store.changeEndpoint("ep_a", { types: ["order.paid"] })).toMatchObject({ version: 2 });
    expect(await store.sequence()).toEqual({ events: 1, more: false });
    expect([count("later"), count("stage"), count("stage_dead")]).toEqual([0, 0, 1]);
    expect(signals).toMatchObject([{ kind: "sequence_failed" }]);
  });

  it("stops a delivery without a lane that has lost its event, loudly, and no other", async () => {
    await store.append([eventOf("e1", { key: undefined }), eventOf("e2", { key: undefined })]);
    db.exec("delete from posthorn_event where public_id = 'e1'");
    expect(await heads()).toEqual(["e2"]);
    expect(signals).toMatchObject([
      { kind: "store_failed", message: expect.stringMatching(/dlv_1 /) as string },
    ]);
    expect(await store.claim(claimRequest())).toEqual({ claims: [], lapsed: false });
  });

  it("halts a lane whose head is gone when it is given up, and keeps what was acknowledged before it", async () => {
    await store.append([eventOf("e1"), eventOf("e2"), eventOf("e3")]);
    const [claim] = (await store.claim(claimRequest({ run: { maxEvents: 2, maxBytes: 1000 } }))).claims;
    db.exec("delete from posthorn_delivery where seq = 2");
    const rest = { state: "dead", because: "refused", policy: "skip" } as const;
    const settlement = { claim: claim as Claim, attempts: [], acknowledged: 1, rest, next: true };
    expect(await store.settle({ ...claimRequest(), settlements: [settlement] })).toEqual([
      { kind: "settled", next: undefined },
    ]);
    expect((await store.blockedLanes({ limit: 10 })).items).toMatchObject([
      { state: "halted", head: 2n, depth: 2n },
    ]);
    expect(await store.skip(1n, 2n)).toBe("skipped");
    expect((await store.claim(claimRequest())).claims).toMatchObject([
      { after: 1n, run: [{ sequence: 3n }] },
    ]);
  });

  it("sets an event aside that cannot get a place when it is due, and stops no other", async () => {
    const deliverAt = new Date(clock.now() + 1000);
    await store.append([eventOf("e1")]);
    await store.append([eventOf("e2", { deliverAt }), eventOf("e3", { deliverAt, key: "free" })]);
    db.prepare("update posthorn_lane set next_seq = ?").run(MAX_SEQUENCE);
    await clock.advance(1000);
    expect(await store.sequence()).toEqual({ events: 2, more: false });
    expect(signals).toMatchObject([{ kind: "sequence_failed", id: "e2" }]);
    expect(count("stage_dead")).toBe(1);
    expect(await heads()).toEqual(["e1", "e3"]);
  });
});

/** Handles an event by publishing one of the same id. */
function accept(id: string, throws: boolean): Promise<Acceptance> {
  return store.accept(
    arrival(id),
    (tx) => {
      store.write([eventOf(id, { key: id })], tx);
      if (throws) throw new Error("no");
      return { outcome: "success" };
    },
    { acquireMs: 1000, signal: new AbortController().signal },
  );
}

function arrival(id: string): Arrival {
  const body = Buffer.from(id);
  const bodyHash = createHash("sha256").update(body).digest();
  const rest = { idPreview: undefined, type: "t", eventAt: undefined, headers: "{}", windowS: 3600 };
  return { tenant: "default", source: "stripe", id, body, bodyHash, ...rest };
}
