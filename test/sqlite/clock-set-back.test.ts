import type { Database } from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import type { FakeClock } from "posthorn/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Claim, ClaimRequest, NextState } from "../../library/src/lanes/lane-store.js";
import type { Store } from "../../library/src/operator/store.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { acknowledgement, claimRequest, endpointOf, eventOf } from "./outbox-events.js";

const DAY_MS = 24 * 3_600_000;
const LEASE_MS = 30_000;
const RETRY_MS = 20_000;
const RETRY = { state: "due", afterMs: RETRY_MS, counts: true } as const;

let file: DatabaseFile;
let db: Database;
let clock: FakeClock;
let outbox: Store<Database, "synchronous">;
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  clock = createFakeClock();
  await migrate(db);
  outbox = sqliteStore({ db, clock });
  await outbox.addEndpoint(endpointOf());
});
afterEach(() => file.remove());

const another = (): typeof outbox => sqliteStore({ db: file.open(), clock });
const jump = (ms: number): void => clock.set(clock.now() + ms);
const claims = async (given: Partial<ClaimRequest> = {}, by = outbox): Promise<readonly Claim[]> =>
  (await by.claim(claimRequest(given))).claims;
const ids = (of: readonly Claim[]): string[] => of.map(({ run }) => run[0].event.id).toSorted();
const settle = async (of: readonly Claim[], rest?: NextState): Promise<string[]> => {
  const failed = rest === undefined ? {} : { acknowledged: 0, rest };
  const settlements = of.map((claim) => ({ ...acknowledgement(claim), ...failed }));
  return (await outbox.settle({ ...claimRequest(), settlements })).map(({ kind }) => kind);
};
const rows = (table: string): unknown[] => db.prepare(`select * from posthorn_${table}`).all();
const seenAt = (): unknown => db.prepare("select seen_at from posthorn_outbox_config").pluck().get();

describe("what was put off by a clock that ran ahead", () => {
  it("an event that was published while the clock ran ahead is due when the clock is right again", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("e1")]);
    await outbox.sequence();
    jump(-DAY_MS);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(0);
    expect(await claims()).toHaveLength(1);
  });

  it("a lease that was taken while the clock ran ahead ends in its own time", async () => {
    await outbox.append([eventOf("e1")]);
    await outbox.sequence();
    jump(DAY_MS);
    expect(await claims()).toHaveLength(1);
    jump(-DAY_MS);
    await clock.advance(60_000);
    expect(await claims()).toHaveLength(1);
  });

  it("a handler that was paused while the clock ran ahead rests as long as it was told to, and not a day more", async () => {
    const handler = { id: "hnd_a", sources: ["*"], types: ["*"], order: "key", dead: undefined } as const;
    await outbox.register([handler]);
    jump(DAY_MS);
    await outbox.pauseHandler("hnd_a", { forMs: 60_000, because: "down" });
    jump(-DAY_MS);
    await outbox.append([eventOf("e1")]);
    const pausedFor = async (): Promise<number> =>
      ((await outbox.readHandlers())[0]?.pausedUntil?.getTime() ?? clock.now()) - clock.now();
    expect(await pausedFor()).toBe(60_000);
    await clock.advance(60_000);
    expect(await outbox.readHandlers()).toMatchObject([{ state: "active" }]);
  });

  it("deliveries without a lane are due again as well", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("n1", { key: undefined }), eventOf("n2", { key: undefined })]);
    const held = await claims({ limit: 1 });
    jump(-DAY_MS);
    expect(await claims()).toHaveLength(1);
    await clock.advance(LEASE_MS);
    expect(ids(await claims())).toEqual(["n1", "n2"]);
    expect(await settle(held)).toEqual(["stale"]);
  });

  it("a retry waits as long as it was told to, and not a day more", async () => {
    await outbox.append([eventOf("e1"), eventOf("n1", { key: undefined })]);
    jump(DAY_MS);
    await settle(await claims(), RETRY);
    jump(-DAY_MS);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(RETRY_MS);
    await clock.advance(RETRY_MS - 1);
    expect(await claims()).toEqual([]);
    await clock.advance(1);
    expect(ids(await claims())).toEqual(["e1", "n1"]);
  });

  it("a wait that has passed before anybody looked is over", async () => {
    await outbox.append([eventOf("e1")]);
    jump(DAY_MS);
    await settle(await claims(), RETRY);
    jump(-DAY_MS);
    await clock.advance(RETRY_MS - 5000);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(5000);
  });

  it("waits at most as long again where no process has outlived the jump", async () => {
    await outbox.append([eventOf("e1")]);
    jump(DAY_MS);
    await settle(await claims(), RETRY);
    jump(-DAY_MS);
    await clock.advance(3_600_000);
    outbox = another();
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(RETRY_MS);
    await clock.advance(RETRY_MS);
    expect(await claims()).toHaveLength(1);
  });

  it("waits for an endpoint that is paused, and is due when that goes on", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("e1")]);
    await outbox.changeEndpoint("ep_a", { state: "paused" });
    jump(-DAY_MS);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBeUndefined();
    await outbox.changeEndpoint("ep_a", { state: "active" });
    expect(await claims()).toHaveLength(1);
  });

  it("is due too where it was published in a transaction of the host", async () => {
    jump(DAY_MS);
    db.transaction(() => outbox.write([eventOf("e1"), eventOf("n1", { key: undefined })], db))();
    jump(-DAY_MS);
    expect(ids(await claims())).toEqual(["e1", "n1"]);
  });

  it("a transaction of the host that rolls back leaves no time behind", async () => {
    await outbox.append([eventOf("e1")]);
    const before = seenAt();
    jump(DAY_MS);
    db.exec("begin");
    outbox.write([eventOf("e2")], db);
    expect(seenAt()).toBe(clock.now());
    db.exec("rollback");
    expect(seenAt()).toBe(before);
  });

  it("a transaction of the host moves nothing that waits", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("e1")]);
    jump(-DAY_MS);
    db.transaction(() => outbox.write([eventOf("e2")], db))();
    expect(rows("lane")).toMatchObject([{ ready_at: clock.now() + DAY_MS }]);
    expect(seenAt()).toBe(clock.now() + DAY_MS);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(0);
  });
});

describe("two processes on one file", () => {
  it("one that has never seen the other time notices too", async () => {
    const other = another();
    expect(await other.untilDue({ kind: "endpoint" })).toBeUndefined();
    jump(DAY_MS);
    await outbox.append([eventOf("e1")]);
    jump(-DAY_MS);
    expect(await other.untilDue({ kind: "endpoint" })).toBe(0);
    expect(ids(await claims({}, other))).toEqual(["e1"]);
  });

  it("what one of them has moved is not moved by the other", async () => {
    const other = another();
    jump(DAY_MS);
    await outbox.append([eventOf("e1")]);
    await settle(await claims(), RETRY);
    await other.append([eventOf("e2", { key: "other" })]);
    jump(-DAY_MS);
    expect(ids(await claims({}, other))).toEqual(["e2"]);
    const before = [rows("lane"), seenAt()];
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(RETRY_MS);
    await outbox.release("nobody", []);
    expect([rows("lane"), seenAt()]).toEqual(before);
  });

  it("one that was held up between its clock and the table takes nobody's time for set back", async () => {
    const late: number[] = [];
    const slow = sqliteStore({
      db: file.open(),
      clock: {
        now: () => late.shift() ?? clock.now(),
        monotonic: () => clock.monotonic(),
        sleep: (ms) => clock.sleep(ms),
      },
    });
    late.push(clock.now());
    await clock.advance(60_000);
    await outbox.append([eventOf("e1")]);
    await settle(await claims(), RETRY);
    const before = rows("lane");
    expect(await slow.untilDue({ kind: "endpoint" })).toBe(RETRY_MS);
    expect([late, rows("lane"), seenAt()]).toEqual([[], before, clock.now()]);
  });
});

describe("a lease over which the clock was set back", () => {
  it("holds until its own end, whoever looks, and is settled", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("e1"), eventOf("e2")]);
    const held = await claims();
    jump(-DAY_MS);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(LEASE_MS);
    await clock.advance(LEASE_MS - 1);
    expect(await claims({ worker: "worker_2" })).toEqual([]);
    expect(await settle(held)).toEqual(["settled"]);
  });

  it("is fenced by its epoch once another has the lane, and its lapse lasted as long as the lease", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("e1")]);
    const held = await claims();
    jump(-DAY_MS);
    await outbox.untilDue({ kind: "endpoint" });
    await clock.advance(LEASE_MS);
    const [again] = await claims({ worker: "worker_2" });
    expect([again?.epoch, again?.attempts]).toEqual([2n, 1]);
    expect(await settle(held)).toEqual(["stale"]);
    expect(await outbox.attempts(`dlv_${again?.id}_${again?.run[0].sequence}`)).toMatchObject([
      { outcome: "lapsed", durationMs: LEASE_MS, startedAt: new Date(clock.now() - LEASE_MS) },
    ]);
  });

  it("that began by the right clock is not ended when another clock comes and goes", async () => {
    await outbox.append([eventOf("e1"), eventOf("n1", { key: undefined })]);
    const held = await claims();
    await clock.advance(1000);
    jump(DAY_MS);
    await outbox.append([eventOf("e2")]);
    jump(-DAY_MS);
    expect(await claims({ worker: "worker_2" })).toEqual([]);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(LEASE_MS - 1000);
    expect(await settle(held)).toEqual(["settled", "settled"]);
  });

  it("a settlement that is the first to notice puts off by the right clock, and moves the others", async () => {
    jump(DAY_MS);
    await outbox.append([eventOf("e1", { key: "a" }), eventOf("e2", { key: "b" })]);
    const held = await claims();
    jump(-DAY_MS);
    await settle(held.slice(0, 1), RETRY);
    expect(rows("lane")).toMatchObject([
      { ready_at: clock.now() + RETRY_MS, leased_by: null },
      { ready_at: clock.now() + LEASE_MS, leased_until: clock.now() + LEASE_MS, leased_at: clock.now() },
    ]);
    expect(await settle(held.slice(1))).toEqual(["settled"]);
  });
});

describe("a clock that was set back", () => {
  it("leaves a lane that is halted as it is", async () => {
    await outbox.append([eventOf("e1"), eventOf("e2"), eventOf("free", { key: "free" })]);
    const lanes = await claims();
    jump(DAY_MS);
    const dead = { state: "dead", because: "exhausted", policy: "halt" } as const;
    await settle(
      lanes.filter(({ lane }) => lane?.key === "k"),
      dead,
    );
    const before = db.prepare("select * from posthorn_lane where state = 'halted'").all();
    const letters = rows("dead");
    jump(-DAY_MS);
    await outbox.untilDue({ kind: "endpoint" });
    expect(db.prepare("select * from posthorn_lane where state = 'halted'").all()).toEqual(before);
    expect([before.length, rows("dead")]).toEqual([1, letters]);
  });

  it("leaves times that people gave, windows and history as they are", async () => {
    jump(DAY_MS);
    const deliverAt = new Date(clock.now() + 60_000);
    const expiresAt = new Date(clock.now() + 120_000);
    await outbox.append([eventOf("e1", { expiresAt }), eventOf("later", { deliverAt })]);
    const names = [{ name: "shop/1", bodyHash: undefined }] as const;
    await outbox.ingest({ event: eventOf("in1", { key: "in" }), names, windowS: 60 });
    await settle(await claims(), RETRY);
    const tables = ["event", "later", "ingest_name", "attempt"];
    const before = tables.map(rows);
    jump(-DAY_MS);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(RETRY_MS);
    expect(tables.map(rows)).toEqual(before);
    await clock.advance(RETRY_MS);
    const found = (await claims()).find(({ run }) => run[0].event.id === "e1");
    expect(found?.run[0].expiresInMs).toBe(DAY_MS + 120_000 - RETRY_MS);
  });

  it("by less than a second changes nothing", async () => {
    await outbox.append([eventOf("e1"), eventOf("n1", { key: undefined })]);
    await settle(await claims(), RETRY);
    const before = [rows("lane"), rows("loose_delivery"), seenAt()];
    jump(-999);
    expect(await outbox.untilDue({ kind: "endpoint" })).toBe(RETRY_MS + 999);
    await outbox.release("nobody", []);
    expect([rows("lane"), rows("loose_delivery"), seenAt()]).toEqual(before);
  });

  it("again and again is noticed each time", async () => {
    await outbox.append([eventOf("e1")]);
    await settle(await claims(), RETRY);
    for (let time = 0; time < 3; time++) {
      jump(-DAY_MS);
      expect(await outbox.untilDue({ kind: "endpoint" })).toBe(RETRY_MS);
    }
    await clock.advance(RETRY_MS);
    expect(await claims()).toHaveLength(1);
  });
});

describe("time that passes as it should", () => {
  it("is written down once a second at most, with what is written anyway", async () => {
    const start = clock.now();
    const seen: unknown[] = [];
    for (let n = 0; n < 4; n++) {
      await outbox.append([eventOf(`e${n}`)]);
      seen.push(Number(seenAt()) - start);
      await clock.advance(400);
    }
    await outbox.untilDue({ kind: "endpoint" });
    expect([seen, Number(seenAt()) - start]).toEqual([[0, 0, 0, 1200], 1200]);
  });

  it("a jump ahead alone loses nothing: leases end early, and whoever held one is fenced", async () => {
    await outbox.append([eventOf("e1"), eventOf("n1", { key: undefined })]);
    const held = await claims();
    jump(DAY_MS);
    const again = await claims({ worker: "worker_2" });
    expect([ids(again), again.map(({ epoch }) => epoch)]).toEqual([
      ["e1", "n1"],
      [2n, 2n],
    ]);
    expect(await settle(held)).toEqual(["stale", "stale"]);
    expect(await settle(again)).toEqual(["settled", "settled"]);
  });
});
