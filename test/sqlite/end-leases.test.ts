import type { Database } from "better-sqlite3";
import { endLeases, migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import type { FakeClock } from "posthorn/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LAPSES_BEFORE_ALONE } from "../../library/src/lanes/lane.js";
import type { Claim, ClaimRequest, NextState, Settlement } from "../../library/src/lanes/lane-store.js";
import type { Store } from "../../library/src/operator/store.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { acknowledgement, claimRequest, endpointOf, eventOf } from "./outbox-events.js";

let file: DatabaseFile;
let db: Database;
let outbox: Store<Database, "synchronous">;
let clock: FakeClock;
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  clock = createFakeClock();
  await migrate(db);
  outbox = sqliteStore({ db, clock });
  await outbox.addEndpoint(endpointOf());
});
afterEach(() => file.remove());

const claims = async (given: Partial<ClaimRequest> = {}): Promise<readonly Claim[]> =>
  (await outbox.claim(claimRequest(given))).claims;
const events = (of: readonly Claim[]): string[] =>
  of.flatMap(({ run }) => run.map(({ event }) => event.id)).toSorted();
const restart = async (): Promise<void> => {
  await clock.advance(claimRequest().leaseMs);
  await endLeases(db, { clock });
};

it("what a dead process had leased is due at once, with a lapse that counts, in a lane and without one", async () => {
  await outbox.append([eventOf("e1"), eventOf("e2"), eventOf("n1", { key: undefined })]);
  const before = await claims();
  expect(await claims({ worker: "worker_2" })).toEqual([]);
  await clock.advance(5);
  expect(await endLeases(db, { clock })).toBe(2);
  expect(await outbox.untilDue({ kind: "endpoint" })).toBe(0);
  const again = await claims({ worker: "worker_2" });
  expect(events(again)).toEqual(["e1", "n1"]);
  expect(again.map(({ attempts, failures }) => [attempts, failures])).toEqual([
    [1, 0],
    [1, 0],
  ]);
  for (const { kind, id, run } of again) {
    const delivery = kind === "lane" ? `dlv_${id}_${run[0].sequence}` : `dlv_${id}`;
    expect(await outbox.attempts(delivery)).toMatchObject([{ outcome: "lapsed", durationMs: 5 }]);
  }
  const late = await outbox.settle({ ...claimRequest(), settlements: before.map(acknowledgement) });
  expect(late.map(({ kind }) => kind)).toEqual(["stale", "stale"]);
});

it("a settlement that comes before the next claim counts, as after a lease that ended by itself", async () => {
  await outbox.append([eventOf("e1")]);
  const before = await claims();
  await endLeases(db, { clock });
  const settled = await outbox.settle({ ...claimRequest(), settlements: before.map(acknowledgement) });
  expect(settled.map(({ kind }) => kind)).toEqual(["settled"]);
  expect(await claims()).toEqual([]);
});

it.each([["k"], [undefined]])(
  "what has lapsed before waits for its lease: a process that is killed again and again condemns nobody in seconds (key %s)",
  async (key) => {
    await outbox.append([eventOf("e1", { key })]);
    await claims();
    await endLeases(db, { clock });
    expect(events(await claims())).toEqual(["e1"]);
    expect(await endLeases(db, { clock })).toBe(0);
    expect(await claims()).toEqual([]);
    await clock.advance(claimRequest().leaseMs);
    expect(events(await claims())).toEqual(["e1"]);
  },
);

it.each([["k"], [undefined]])(
  "an event that kills its process at every start runs alone, and is given up if it kills that too (key %s)",
  async (key) => {
    await outbox.append([eventOf("poison", { key })]);
    for (let lapse = 0; lapse < LAPSES_BEFORE_ALONE; lapse++) {
      expect(events(await claims())).toEqual(["poison"]);
      await restart();
    }
    expect(await outbox.claim(claimRequest())).toEqual({ claims: [], lapsed: true });
    expect(events(await claims({ alone: true }))).toEqual(["poison"]);
    await restart();
    expect(await claims({ alone: true })).toEqual([]);
    const { items } = await outbox.deadLetters({ limit: 10 });
    expect(items).toMatchObject([{ eventId: "poison", because: "lease_expired" }]);
  },
);

it("of a run that was under way each event goes alone, and none is charged", async () => {
  await outbox.append([eventOf("e1"), eventOf("e2")]);
  const run = { maxEvents: 8, maxBytes: 1_000_000 };
  expect(events(await claims({ run }))).toEqual(["e1", "e2"]);
  expect(await endLeases(db, { clock })).toBe(1);
  const again = await claims({ run });
  expect([events(again), again[0]?.attempts]).toEqual([["e1"], 0]);
});

it("what waits for its next attempt goes on waiting, and what is halted stays so", async () => {
  await outbox.append([eventOf("later", { key: "a" }), eventOf("dead", { key: "b" })]);
  const settlements = (await claims()).map((claim): Settlement => {
    const rest: NextState =
      claim.lane?.key === "a"
        ? { state: "due", afterMs: 1000, counts: true }
        : { state: "dead", because: "exhausted", policy: "halt" };
    return Object.assign(acknowledgement(claim), { acknowledged: 0, rest });
  });
  await outbox.settle({ ...claimRequest(), settlements });
  expect(await endLeases(db, { clock })).toBe(0);
  expect(await claims()).toEqual([]);
  expect(await outbox.untilDue({ kind: "endpoint" })).toBe(1000);
});

it("a clock that was set back ends no lease before it began", async () => {
  await outbox.append([eventOf("e1")]);
  await claims();
  const earlier = createFakeClock({ at: clock.now() - 60_000 });
  expect(await endLeases(db, { clock: earlier })).toBe(1);
  const [again] = (await sqliteStore({ db, clock: earlier }).claim(claimRequest())).claims;
  expect(await outbox.attempts(`dlv_${again?.id}_${again?.run[0].sequence}`)).toMatchObject([
    { outcome: "lapsed", durationMs: 0 },
  ]);
});
