import type { Database } from "better-sqlite3";
import { createHash } from "node:crypto";
import { migrate, sqliteOutbox, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Arrival } from "../../library/src/inbox/inbox-store.js";
import type { Signal } from "../../library/src/observer.js";
import type { Outbox } from "../../library/src/operator/outbox.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { acknowledgement, claimRequest, deliverAll, endpointOf, eventOf } from "./outbox-events.js";

const MAX_SEQUENCE = 2n ** 63n - 1n;

let file: DatabaseFile;
let db: Database;
let outbox: Outbox<Database, "synchronous">;
let signals: Signal[];
const clock = createFakeClock();
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
  signals = [];
  outbox = sqliteOutbox({ db, clock, observer: (signal) => signals.push(signal) });
  await outbox.addEndpoint(endpointOf());
});
afterEach(() => file.remove());

const count = (table: string) => db.prepare(`select count(*) from posthorn_${table}`).pluck().get();
const heads = async () =>
  (await outbox.claim(claimRequest())).claims.map(({ run }) => run[0].event.id).toSorted();

describe("a write into a transaction of the host", () => {
  it("is refused where no transaction is open, and nothing is written", () => {
    expect(() => outbox.write([eventOf("e1")], db)).toThrow(
      expect.objectContaining({ code: "store_transaction_required" }),
    );
    expect(count("event")).toBe(0);
  });

  it("is refused on a handle of another database, where nobody would deliver it", async () => {
    const other = createDatabaseFile();
    const handle = other.open();
    await migrate(handle);
    handle.exec("begin");
    expect(() => outbox.write([eventOf("e1")], handle)).toThrow(
      expect.objectContaining({ code: "store_client_unsupported" }),
    );
    other.remove();
  });

  it("may come from any handle of the same file", async () => {
    const second = file.open();
    second.transaction(() => outbox.write([eventOf("e1")], second))();
    expect(await heads()).toEqual(["e1"]);
  });

  it("says that the tables are missing, with the cure", () => {
    const empty = createDatabaseFile();
    const handle = empty.open();
    const there = sqliteOutbox({ db: handle });
    expect(() => handle.transaction(() => there.write([eventOf("e1")], handle))()).toThrow(/migrate\(db\)/);
    empty.remove();
  });

  it("of a handler commits with the event that it handles, or not at all", async () => {
    const inbox = sqliteStore({ db, clock });
    const accept = (id: string, throws: boolean) =>
      inbox.accept(
        arrival(id),
        (tx) => {
          outbox.write([eventOf(id, { key: id })], tx);
          if (throws) throw new Error("no");
          return { outcome: "success" };
        },
        { acquireMs: 1000, signal: new AbortController().signal },
      );
    const kinds = await Promise.all([accept("a", false), accept("b", true), accept("c", false)]);
    expect(kinds.map(({ kind }) => kind)).toEqual(["applied", "failed", "applied"]);
    expect(await heads()).toEqual(["a", "c"]);
  });

  it("of a sequence that no integer can hold is refused, and the transaction goes on without it", () => {
    db.transaction(() => outbox.write([eventOf("e1")], db))();
    db.prepare("update posthorn_lane set next_seq = ?").run(MAX_SEQUENCE);
    db.transaction(() => {
      expect(() => outbox.write([eventOf("e2")], db)).toThrow(
        expect.objectContaining({ code: "store_unavailable" }),
      );
    })();
    expect(count("delivery")).toBe(1);
  });
});

describe("appends of the same moment", () => {
  it("share a transaction, and a conflict is its own caller's", async () => {
    await outbox.append([eventOf("taken", { idGiven: true, key: "first" })]);
    const other = eventOf("taken", { idGiven: true, body: Buffer.from("other") });
    const written = await Promise.all([
      outbox.append([eventOf("e1")]),
      outbox.append([eventOf("e2"), other]),
      outbox.append([eventOf("e3")]),
    ]);
    expect(written).toEqual([["written"], ["written", "conflict"], ["written"]]);
    expect(await deliverAll(outbox, claimRequest())).toEqual(["taken", "e1", "e3"]);
  });

  it("see an endpoint that another process has changed since", async () => {
    await outbox.append([eventOf("e1")]);
    const elsewhere = sqliteOutbox({ db: file.open(), clock });
    await elsewhere.changeEndpoint("ep_a", { types: ["none"] });
    await elsewhere.addEndpoint(endpointOf({ id: "ep_b", order: "none" }));
    await outbox.append([eventOf("e2")]);
    const { claims } = await outbox.claim(claimRequest());
    expect(claims.map(({ consumer: endpoint, run }) => [endpoint.id, run[0].event.id])).toEqual([
      ["ep_a", "e1"],
      ["ep_b", "e2"],
    ]);
  });
});

describe("many at once", () => {
  it("are claimed up to the limit and settled in one call, each once and in order", async () => {
    const keys = Array.from({ length: 200 }, (_, n) => `key_${n}`);
    await outbox.append(keys.flatMap((key) => [1, 2].map((n) => eventOf(`${key}_${n}`, { key }))));
    const { claims } = await outbox.claim(claimRequest({ limit: 150 }));
    expect(new Set(claims.map(({ lane }) => lane?.key)).size).toBe(150);
    const settled = await outbox.settle({ ...claimRequest(), settlements: claims.map(acknowledgement) });
    const next = settled.map((each) => (each.kind === "settled" ? each.next?.run[0].event.id : each.kind));
    expect(next).toEqual(claims.map(({ lane }) => `${lane?.key}_2`));
  });

  it("are claimed no further than the endpoint has room, over several turns too", async () => {
    await outbox.changeEndpoint("ep_a", { maxInFlight: 100 });
    await outbox.append(Array.from({ length: 200 }, (_, n) => eventOf(`e${n}`, { key: `key_${n}` })));
    const inFlight = new Map([["ep_a", 10]]);
    expect((await outbox.claim(claimRequest({ limit: 500, inFlight }))).claims).toHaveLength(90);
  });
});

describe("what waits for a removed endpoint", () => {
  it("is cancelled to the last, though it is more than one turn takes", async () => {
    const events = Array.from({ length: 1300 }, (_, n) =>
      eventOf(`e${n}`, { key: n % 2 === 0 ? "k" : undefined }),
    );
    await outbox.append(events);
    await outbox.removeEndpoint("ep_a");
    expect([count("cancelled"), count("delivery"), count("loose_delivery"), count("lane")]).toEqual([
      1300, 0, 0, 0,
    ]);
  });

  it("is cancelled by the next to sequence, when the process that removed it has died", async () => {
    await outbox.append([eventOf("e1"), eventOf("e2", { key: undefined })]);
    db.exec("update posthorn_endpoint set removed_at = 1");
    expect(await outbox.sequence()).toEqual({ events: 0, more: false });
    expect(count("cancelled")).toBe(2);
    expect(db.prepare("select secrets from posthorn_endpoint").pluck().all()).toEqual(["[]"]);
  });
});

describe("a table that somebody has changed by hand", () => {
  it("halts the lane whose head is gone, loudly, and no other", async () => {
    await outbox.append([eventOf("e1"), eventOf("e2"), eventOf("other", { key: "other" })]);
    db.exec("delete from posthorn_delivery where seq = 1");
    expect(await heads()).toEqual(["other"]);
    expect(signals).toMatchObject([{ kind: "store_failed", operation: "claim" }]);
    const { items } = await outbox.blockedLanes({ limit: 10 });
    expect(items).toMatchObject([{ state: "halted", head: 1n }]);
    expect(await outbox.skip(items[0]?.id ?? 0n, 1n)).toBe("skipped");
    expect(await heads()).toEqual(["e2"]);
  });

  it("sets an event aside that cannot get a place when it is due, and stops no other", async () => {
    const deliverAt = new Date(clock.now() + 1000);
    await outbox.append([eventOf("e1")]);
    await outbox.append([eventOf("e2", { deliverAt }), eventOf("e3", { deliverAt, key: "free" })]);
    db.prepare("update posthorn_lane set next_seq = ?").run(MAX_SEQUENCE);
    await clock.advance(1000);
    expect(await outbox.sequence()).toEqual({ events: 2, more: false });
    expect(signals).toMatchObject([{ kind: "sequence_failed", id: "e2" }]);
    expect(count("set_aside")).toBe(1);
    expect(await heads()).toEqual(["e1", "e3"]);
  });
});

function arrival(id: string): Arrival {
  const body = Buffer.from(id);
  const bodyHash = createHash("sha256").update(body).digest();
  const rest = { idPreview: undefined, type: "t", eventAt: undefined, headers: "{}", windowS: 3600 };
  return { tenant: "default", source: "stripe", id, body, bodyHash, ...rest };
}
