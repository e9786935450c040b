import fs, { statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate, sqliteOutbox, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { same } from "../../library/src/testing/conformance/expectation.js";
import { eventOf } from "../../library/src/testing/conformance/outbox-steps.js";
import { createDatabaseFile } from "../sqlite/database-file.js";
import type { DatabaseFile } from "../sqlite/database-file.js";
import { claimRequest, endpointOf } from "../sqlite/outbox-events.js";
import type { Targeted } from "./targeted.js";

export const WAITS_FOR_DISK = "a commit waits for the disk";
export const WAITS_ASIDE = "an answer waits for the disk, though the event loop does not";
export const DOUBTS_LOG = "after a failed sync the log is emptied before anything is written";
export const CLOCK_SET_BACK =
  "what was put off by a clock that ran ahead is due when the clock is right again";
export const LEASE_ENDS_ONCE = "a lease that began by the right clock outlives one that ran ahead";

const FULL = 2;
const SYNC_TRIES = 1000;
const DAY_MS = 24 * 3_600_000;

export function sqliteCases(): readonly Targeted[] {
  return [
    { name: WAITS_FOR_DISK, run: waitsForDisk },
    { name: WAITS_ASIDE, run: waitsAside },
    { name: DOUBTS_LOG, run: doubtsLog },
    { name: CLOCK_SET_BACK, run: clockSetBack },
    { name: LEASE_ENDS_ONCE, run: leaseEndsOnce },
  ];
}

async function waitsForDisk(): Promise<void> {
  const file = createDatabaseFile();
  try {
    const db = file.open();
    await migrate(db);
    const [inbox, outbox] = [sqliteStore({ db }), sqliteOutbox({ db })];
    // The host lowers it, as better-sqlite3 does by itself when it opens a WAL file.
    db.pragma("synchronous = normal");
    await outbox.append([await eventOf()]);
    same(db.pragma("synchronous", { simple: true }), FULL, "synchronous");
    same(inbox.capabilities.survivesPowerLoss, true, "what the inbox says of power losses");
  } finally {
    file.remove();
  }
}

async function waitsAside(): Promise<void> {
  await withSyncs(async ({ outbox, file, nextSync }) => {
    let answered = false;
    const appended = outbox.append([await eventOf()]).then(() => (answered = true));
    const endSync = await nextSync();
    const committed = file.open().prepare("select count(*) from posthorn_event").pluck().get();
    same(committed, 1, "events that are committed while the disk is at work");
    same(answered, false, "whether the caller was answered");
    endSync(null);
    await appended;
  });
}

async function doubtsLog(): Promise<void> {
  await withSyncs(async ({ outbox, file, nextSync }) => {
    const logBytes = (): number => statSync(`${file.path}-wal`).size;
    const failed = codeOf(outbox.append([await eventOf()]));
    const failSync = await nextSync();
    const before = logBytes();
    failSync(new Error("EIO"));
    same(await failed, "commit_unknown", "what the caller is told");
    const appended = outbox.append([await eventOf({ id: "e2" })]);
    const endSync = await nextSync();
    same(logBytes() < before, true, "whether the log was begun anew");
    endSync(null);
    await appended;
  });
}

interface Syncs {
  readonly outbox: ReturnType<typeof sqliteOutbox>;
  readonly file: DatabaseFile;
  /** Waits until one has begun; it ends when it is told to. */
  readonly nextSync: () => Promise<(error: Error | null) => void>;
}

/** An outbox of a sole process, on a disk that is slow, or fails, as the case wants it. */
async function withSyncs(run: (syncs: Syncs) => Promise<void>): Promise<void> {
  const file = createDatabaseFile();
  const { fdatasync } = fs;
  try {
    const begun: ((error: Error | null) => void)[] = [];
    patchSync((_file, done) => begun.push(done));
    const db = file.open();
    await migrate(db);
    const nextSync = async (): Promise<(error: Error | null) => void> => {
      for (let tries = 0; begun.length === 0 && tries < SYNC_TRIES; tries++) await sleep(1);
      const sync = begun.shift();
      if (sync === undefined) throw new Error("no sync has begun");
      return sync;
    };
    await run({ outbox: sqliteOutbox({ db, soleProcess: true }), file, nextSync });
  } finally {
    patchSync(fdatasync);
    file.remove();
  }
}

function patchSync(sync: (file: number, done: (error: Error | null) => void) => void): void {
  fs.fdatasync = sync as typeof fs.fdatasync;
  syncBuiltinESMExports();
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "it was answered",
    (error: { readonly code?: unknown }) => error.code,
  );
}

/** Two handles stand for two processes: what one has put off, the other must find. */
async function clockSetBack(): Promise<void> {
  const file = createDatabaseFile();
  try {
    const [db, clock] = [file.open(), createFakeClock()];
    await migrate(db);
    const [publisher, worker] = [db, file.open()].map((handle) => sqliteOutbox({ db: handle, clock }));
    await publisher?.addEndpoint(endpointOf());
    clock.set(clock.now() + DAY_MS);
    await publisher?.append([await eventOf()]);
    clock.set(clock.now() - DAY_MS);
    same(await worker?.untilDue(), 0, "how long until the event is due");
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
    const outbox = sqliteOutbox({ db, clock });
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
