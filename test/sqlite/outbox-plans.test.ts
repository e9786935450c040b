import type { Database } from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";
import type { SqliteDatabase } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { claimRequest, endpointOf, eventOf } from "./outbox-events.js";

let file: DatabaseFile;
let db: Database;
const statements = new Set<string>();
beforeAll(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
});
afterAll(() => file.remove());

/** The handle, noting what is prepared on it. */
function noting(handle: Database): SqliteDatabase {
  return {
    prepare(sql) {
      statements.add(sql);
      return handle.prepare(sql);
    },
    exec: (sql) => handle.exec(sql),
    get inTransaction() {
      return handle.inTransaction;
    },
  };
}

/** Comes to every statement of the outbox, or nearly. */
async function useAll(handle: SqliteDatabase): Promise<void> {
  const outbox = sqliteStore({ db: handle });
  const request = claimRequest({ run: { maxEvents: 8, maxBytes: 1000 } });
  await outbox.addEndpoint(endpointOf());
  await outbox.append([eventOf("e1", { idGiven: true }), eventOf("e2"), eventOf("e3", { key: undefined })]);
  await outbox.append([eventOf("later", { deliverAt: new Date(Date.now() + 60_000) })]);
  await outbox.claim({ ...request, brief: true });
  await outbox.release("worker_1", []);
  const { claims } = await outbox.claim(request);
  await outbox.extend("worker_1", claims, 1000);
  const dead = { state: "dead", because: "exhausted", policy: "halt" } as const;
  await outbox.settle({
    ...request,
    settlements: claims.map((claim) => ({ claim, attempts: [], acknowledged: 0, rest: dead, next: true })),
  });
  await outbox.heldEvents({}, { limit: 10 });
  await outbox.heldEvents({ tenant: "default", source: "shop", key: "k" }, { limit: 10 });
  await outbox.heldEvent("default", "e1");
  await outbox.releaseHeld("default", "e1");
  const letters = await outbox.deadLetters({ limit: 10 });
  await outbox.deadLetters({ limit: 10 }, { order: "oldest", since: new Date(0), upTo: 9n });
  await outbox.deadLetters({ limit: 10 }, { endpointId: "ep_a", because: "exhausted", until: new Date() });
  await outbox.deadLetters({ limit: 10 }, { endpointId: "ep_a", status: null, order: "oldest" });
  await outbox.deadGroups({ endpointId: "ep_a" });
  await outbox.redriveAll([{ id: "dlv_99_1", round: 1 }]);
  for (const { id } of letters.items) await outbox.redrive(id);
  await outbox.claim(request);
  await outbox.release("worker_1", []);
  const [lane] = (await outbox.blockedLanes({ limit: 10 })).items;
  await outbox.skip(lane?.id ?? 1n, lane?.head ?? 1n);
  await outbox.cancel(1n, 1n);
  await outbox.changeEndpoint("ep_a", { state: "paused" });
  await outbox.blockedLanes({ limit: 10 });
  await outbox.attempts("dlv_1_1");
  await outbox.untilDue({ kind: "endpoint" });
  const names = [{ name: "shop/1", bodyHash: undefined }] as const;
  for (const id of ["in1", "in2"]) await outbox.ingest({ event: eventOf(id), names, windowS: 0 });
  await outbox.forgetNames({ maxNames: 10 });
  await outbox.events({ tenant: "default" }, { limit: 10 });
  await outbox.events({ tenant: "default", key: "k" }, { limit: 10 });
  await outbox.event("default", "e1");
  await outbox.events({ since: new Date(0), until: new Date() }, { limit: 10 });
  await outbox.eventIds("default", "e", 10);
  await outbox.tenantsOf("e1");
  await outbox.repeats("default", "in1");
  await outbox.namedEvents("default", ["shop/1"]);
  for (const part of ["first", "last", "finished"] as const) await outbox.queue(1n, part, 3);
  await outbox.ends("dlv_1_1");
  await outbox.standings();
  for (const { id } of await outbox.deliveriesOf("default", ["e1", "e3"])) await outbox.delivery(id);
  await outbox.delivery("dlv_99_1");
  await outbox.lanes({}, { limit: 10 });
  await outbox.lane(1n);
  await outbox.census();
  await outbox.sequence();
  await sqliteStore({ db: handle, clock: createFakeClock({ at: Date.now() - 60_000 }) }).untilDue({
    kind: "endpoint",
  });
  await outbox.removeEndpoint("ep_a");
}

// These read the few rows that there are of endpoints, or are for a moment at which nobody waits.
const MAY_SCAN = [
  /^select \* from posthorn_consumer where removed_at is null order by id$/,
  /^select id, stopped_at from posthorn_consumer/,
  /^update posthorn_consumer set paused_until = max\(/,
  /^update posthorn_dead set resolved_at = \?, resolved_how = 'cancelled'/,
  // These sort the few rows of an end of a lane, or of an event, which an index has found and a limit holds.
  /^select p\.seq, e\.public_id/,
  /^select distinct tenant from posthorn_event indexed by posthorn_event_public_id where public_id = \?/,
  /^select kind, receipts, .* from posthorn_ingest_repeat where tenant = \? and event_id = \?/,
  /^select distinct n\.event_id from json_each/,
  // Of at most ten thousand blocked lanes.
  /^select consumer, sum\(state = 'halted'\)/,
  // Counted by the pages of an index.
  /^select count\(\*\) as found from posthorn_/,
];

it("no statement of the outbox reads or sorts a whole table, however many lanes wait", async () => {
  await useAll(noting(db));
  expect([...statements].filter((sql) => sql.includes("max(ready_at"))).toHaveLength(2);
  const ours = [...statements].filter(
    (sql) => /posthorn_/.test(sql) && !/posthorn_(migration|guard)/.test(sql),
  );
  expect(ours.length).toBeGreaterThan(40);
  const scanning = ours.flatMap((sql) => {
    const values = Array.from(sql.matchAll(/\?/g), () => null);
    const plan = db.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    const text = sql.replaceAll(/\s+/g, " ");
    const scans = plan.filter(({ detail }) =>
      /^SCAN (?!\d|json_each|CONSTANT|\(subquery|p$|g VIRTUAL)|TEMP B-TREE/.test(detail),
    );
    return scans.length === 0 || MAY_SCAN.some((allowed) => allowed.test(text))
      ? []
      : [`${scans[0]?.detail}: ${text}`];
  });
  expect(scanning).toEqual([]);
});
