import Database from "better-sqlite3";
import { createReceiver } from "posthorn";
import type { Receiver, Signal } from "posthorn";
import { createEgress } from "posthorn/dispatch";
import { memoryStore } from "posthorn/memory";
import { github } from "posthorn/providers";
import { createRepair, githubLog } from "posthorn/repair";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock, TEST_SECRETS } from "posthorn/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { githubApi } from "./provider-apis.js";
import type { Made } from "./provider-apis.js";
import { delivery, HOOK, localEgress, PATH, promiseRepair, sources } from "./repair-promises.js";
import type { RepairWorld } from "./repair-promises.js";

const HOUR_MS = 3_600_000;
const NOON = Date.parse("2026-11-15T12:00:00Z");

interface World extends Omit<RepairWorld, "applied"> {
  /** Ids of events in the order in which handlers applied them. */
  readonly applied: readonly string[];
  fail: (id: string) => boolean;
}

function inMemory(): World {
  const clock = createFakeClock({ at: NOON });
  const store = memoryStore({ clock, environment: "test" });
  const world = {
    clock,
    store,
    applied: [] as string[],
    fail: (_id: string) => false,
  };
  const apply = (event: { readonly id: string }): void => {
    if (world.fail(event.id)) throw new Error("the handler failed");
    world.applied.push(event.id);
  };
  const handlers = { "issues.opened": apply, "invoice.paid": apply };
  const receiver = createReceiver({ store, sources: sources(clock), handlers, clock });
  return Object.assign(world, { receiver });
}

const insert = (event: { readonly id: string }) => (tx: Database.Database) => {
  tx.prepare("insert into effect (id) values (?)").run(event.id);
};

async function onSqlite(): Promise<RepairWorld> {
  const clock = createFakeClock({ at: NOON });
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  await migrate(db);
  db.exec("create table effect (id text not null)");
  const store = sqliteStore({ db, clock, durability: "as_is" });
  const receiver = createReceiver({
    store,
    sources: sources(clock),
    handlers: { "issues.opened": insert, "invoice.paid": insert },
    clock,
  });
  const applied = (): Promise<string[]> =>
    Promise.resolve(db.prepare("select id from effect order by rowid").pluck().all() as string[]);
  return { clock, store, receiver, applied };
}

promiseRepair("memory", () => {
  const { applied, ...world } = inMemory();
  return Promise.resolve({ ...world, applied: () => Promise.resolve(applied) });
});
promiseRepair("SQLite", onSqlite);

const load = () => Promise.resolve({ headers: {}, body: new Uint8Array() });

describe("a repair", () => {
  const reach = localEgress();

  it("reads again from what failed, until it is applied, and what follows is not held up", async () => {
    const world = inMemory();
    const { clock, receiver, store } = world;
    const log: Made[] = [];
    const api = await githubApi(PATH, () => log);
    const logs = {
      github: githubLog({ egress: reach(), token: "ghp_test", hook: HOOK, baseUrl: api.baseUrl }),
    };
    const repair = createRepair({ receiver, store, clock, logs, overlapMs: 1 });
    await repair.once();
    for (let n = 0; n < 3; n++) {
      await clock.advance(60_000);
      log.push(delivery(n, clock.now()));
    }
    world.fail = (id) => id === "guid-1";
    await clock.advance(60_000);
    expect(await repair.once()).toMatchObject([{ applied: 2, unsettled: 1, until: new Date(clock.now()) }]);
    world.fail = () => false;
    await clock.advance(60_000);
    expect(await repair.once()).toMatchObject([
      { applied: 1, duplicate: 1, unsettled: 0, until: new Date(clock.now()) },
    ]);
    expect(world.applied).toEqual(["guid-0", "guid-2", "guid-1"]);
  });

  it("of a log that cannot be read keeps the cursor, tells the observer, and rejects", async () => {
    const world = inMemory();
    const { clock, receiver, store } = world;
    const log: Made[] = [];
    const api = await githubApi(PATH, () => log);
    const logs = {
      github: githubLog({ egress: reach(), token: "ghp_secret", hook: HOOK, baseUrl: api.baseUrl }),
    };
    const signals: Signal[] = [];
    const repair = createRepair({
      receiver,
      store,
      clock,
      logs,
      observer: (signal) => void signals.push(signal),
    });
    await repair.once();
    log.push(delivery(1, clock.now()));
    await clock.advance(60_000);
    api.failWith(403);
    await expect(repair.once()).rejects.toMatchObject({ code: "repair_log_unreadable" });
    expect(signals.at(-1)).toMatchObject({ kind: "repair_failed", source: "github" });
    expect(JSON.stringify(signals)).not.toContain("ghp_secret");
    api.failWith(undefined);
    expect(await repair.once()).toMatchObject([{ applied: 1 }]);
  });

  it("goes on at once where a run may not read all, and again on schedule, until it is stopped", async () => {
    const world = inMemory();
    const { clock, receiver, store } = world;
    const log = Array.from({ length: 250 }, (_, n) => delivery(n, NOON - HOUR_MS + n * 1000));
    const api = await githubApi(PATH, () => log);
    const repair = createRepair({
      receiver,
      store,
      clock,
      since: new Date(NOON - 2 * HOUR_MS),
      overlapMs: 1000,
      maxEntries: 100,
      logs: {
        github: githubLog({
          egress: reach(),
          token: () => Promise.resolve("jwt"),
          hook: HOOK,
          baseUrl: api.baseUrl,
        }),
      },
    });
    const stop = new AbortController();
    const running = repair.keepRepaired({ everyMs: 60_000, signal: stop.signal });
    const seen = async (count: number): Promise<void> => {
      for (let tries = 0; world.applied.length < count && tries < 4000; tries++) {
        await clock.advance(0);
        // Real sockets take real time.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await seen(250);
    expect(world.applied).toEqual(log.map(({ id }) => id));
    log.push(delivery(250, clock.now() + 30_000));
    await clock.advance(60_000);
    await seen(251);
    expect(world.applied).toHaveLength(251);
    stop.abort();
    await running;
  });

  it("passes the address guard: a log at a private address is not asked", async () => {
    const guarded = await createEgress();
    onTestFinished(() => guarded.close());
    const { clock, receiver, store } = inMemory();
    const api = await githubApi(PATH, () => []);
    const logs = { github: githubLog({ egress: guarded, token: "t", hook: HOOK, baseUrl: api.baseUrl }) };
    const repair = createRepair({ receiver, store, clock, logs, since: new Date(NOON - 1000) });
    await expect(repair.once()).rejects.toThrow("forbidden");
    expect(api.asked).toEqual([]);
  });

  it("refuses a source that knows its events by their bodies, and a source that there is not", async () => {
    const clock = createFakeClock({ at: NOON });
    const verifier = github({ secrets: TEST_SECRETS.github.verifying, clock });
    const store = memoryStore({ clock, environment: "test" });
    const sourcesByBody = { github: { verifier, dedup: { by: "content", content: "raw" } as const } };
    const receiver = createReceiver({ store, sources: sourcesByBody, handlers: {}, clock });
    await expect(receiver.repair("github", { id: "1", load })).rejects.toMatchObject({
      code: "inbox_option_invalid",
    });
    const other = receiver as Receiver;
    await expect(other.repair("gitlab", { id: "1", load })).rejects.toMatchObject({ code: "source_unknown" });
  });

  it.each([
    [{ repository: "posthorn/../../user", id: 7 }],
    [{ repository: "posthorn", id: 7 }],
    [{ organization: "..", id: 7 }],
    [{ organization: "posthorn", id: 0 }],
  ])("refuses %j, which would lead to another path of the API", (hook) => {
    expect(() => githubLog({ egress: reach(), token: "t", hook })).toThrow(/hook/);
  });
});
