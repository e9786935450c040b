import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { same } from "../../library/src/testing/conformance/expectation.js";
import { eventOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { createDatabaseFile } from "../sqlite/database-file.js";
import { claimRequest, endpointOf } from "../sqlite/outbox-events.js";
import type { Targeted } from "./targeted.js";

export const WAITS_FOR_DISK = "a commit waits for the disk";
export const CLOCK_SET_BACK =
  "what was put off by a clock that ran ahead is due when the clock is right again";
export const LEASE_ENDS_ONCE = "a lease that began by the right clock outlives one that ran ahead";

const FULL = 2;
const DAY_MS = 24 * 3_600_000;

export function sqliteCases(): readonly Targeted[] {
  return [
    { name: WAITS_FOR_DISK, run: waitsForDisk },
    { name: CLOCK_SET_BACK, run: clockSetBack },
    { name: LEASE_ENDS_ONCE, run: leaseEndsOnce },
  ];
}

async function waitsForDisk(): Promise<void> {
  const file = createDatabaseFile();
  try {
    const db = file.open();
    await migrate(db);
    const store = sqliteStore({ db });
    // The host lowers it, as better-sqlite3 does by itself when it opens a WAL file.
    db.pragma("synchronous = normal");
    await store.append([await eventOf()]);
    same(db.pragma("synchronous", { simple: true }), FULL, "synchronous");
    same(store.capabilities.survivesPowerLoss, true, "what the store says of power losses");
  } finally {
    file.remove();
  }
}

/** Two handles stand for two processes: what one has put off, the other must find. */
async function clockSetBack(): Promise<void> {
  const file = createDatabaseFile();
  try {
    const [db, clock] = [file.open(), createFakeClock()];
    await migrate(db);
    const [publisher, worker] = [db, file.open()].map((handle) => sqliteStore({ db: handle, clock }));
    await publisher?.addEndpoint(endpointOf());
    clock.set(clock.now() + DAY_MS);
    await publisher?.append([await eventOf()]);
    clock.set(clock.now() - DAY_MS);
    same(await worker?.untilDue({ kind: "endpoint" }), 0, "how long until the event is due");
    same((await worker?.claim(claimRequest()))?.claims.length, 1, "claims of it");
  } finally {
    file.remove();
  }
}

async function leaseEndsOnce(): Promise<void> {
  const file = createDatabaseFile();
  try {
    const [db, clock] = [file.open(), createFakeClock()];
    await migrate(db);
    const outbox = sqliteStore({ db, clock });
    await outbox.addEndpoint(endpointOf());
    await outbox.append([await eventOf()]);
    same((await outbox.claim(claimRequest())).claims.length, 1, "claims by the right clock");
    clock.set(clock.now() + DAY_MS);
    await outbox.append([await eventOf({ id: "another" })]);
    clock.set(clock.now() - DAY_MS);
    same((await outbox.claim(claimRequest())).claims.length, 0, "claims while that lease is held");
  } finally {
    file.remove();
  }
}
