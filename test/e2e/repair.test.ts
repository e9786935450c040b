import { createHmac } from "node:crypto";
import Database from "better-sqlite3";
import { createReceiver } from "posthorn";
import type { Receiver, Signal } from "posthorn";
import { createEgress } from "posthorn/dispatch";
import { memoryStore } from "posthorn/memory";
import { github, stripe } from "posthorn/providers";
import { createRepair, githubLog, stripeLog } from "posthorn/repair";
import type { CursorStore } from "posthorn/repair";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock, TEST_SECRETS } from "posthorn/testing";
import type { FakeClock } from "posthorn/testing";
import { beforeAll, afterAll, describe, expect, it, onTestFinished } from "vitest";
import { githubApi, stripeApi } from "./provider-apis.js";
import type { Made } from "./provider-apis.js";

const HOUR_MS = 3_600_000;
const NOON = Date.parse("2026-11-15T12:00:00Z");
const PATH = "/repos/posthorn/example/hooks/7/deliveries";
const HOOK = { repository: "posthorn/example", id: 7 } as const;

let egress: Awaited<ReturnType<typeof createEgress>>;
beforeAll(async () => {
  egress = await createEgress({ allowAddresses: ["127.0.0.1"], allowHttp: true });
});
afterAll(() => egress.close());

/** A delivery of GitHub's; `exact` says whether the log has the bytes that were signed. */
function delivery(n: number, at: number, exact = true): Made {
  const body = `{"action":"opened","issue":{"number":${n}}}`;
  const signed = exact ? body : `${body} `;
  const signature = createHmac("sha256", TEST_SECRETS.github.verifying).update(signed).digest("hex");
  return {
    id: `guid-${n}`,
    at: new Date(at),
    body,
    headers: {
      "X-GitHub-Delivery": `guid-${n}`,
      "X-GitHub-Event": "issues",
      "X-Hub-Signature-256": `sha256=${signature}`,
    },
  };
}

function stripeEvent(n: number, at: number): Made {
  const created = Math.floor(at / 1000);
  const object = { id: `in_${n}`, object: "invoice" };
  const body = JSON.stringify({
    id: `evt_${n}`,
    object: "event",
    created,
    type: "invoice.paid",
    data: { object },
  });
  return { id: `evt_${n}`, at: new Date(at), body };
}

/** What GitHub sends: the very bytes, signed. */
function receive(receiver: Receiver<"github">, { headers = {}, body }: Made, more = ""): Promise<unknown> {
  const text = body + more;
  const signature = createHmac("sha256", TEST_SECRETS.github.verifying).update(text).digest("hex");
  const sent = { ...headers, "X-Hub-Signature-256": `sha256=${signature}` };
  return receiver.receive("github", { headers: sent, body: Buffer.from(text) });
}

interface World {
  readonly clock: FakeClock;
  readonly store: CursorStore;
  readonly receiver: Receiver<"github" | "stripe">;
  /** Ids of events in the order in which handlers applied them. */
  readonly applied: string[];
  readonly signals: Signal[];
  fail: (id: string) => boolean;
}

function sources(clock: FakeClock) {
  return {
    github: github({ secrets: TEST_SECRETS.github.verifying, clock }),
    stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying, clock }),
  };
}

function inMemory(): World {
  const clock = createFakeClock({ at: NOON });
  const store = memoryStore({ clock, environment: "test" });
  const world = {
    clock,
    store,
    applied: [] as string[],
    signals: [] as Signal[],
    fail: (_id: string) => false,
  };
  const apply = (event: { readonly id: string }): void => {
    if (world.fail(event.id)) throw new Error("the handler failed");
    world.applied.push(event.id);
  };
  const handlers = { "issues.opened": apply, "invoice.paid": apply };
  const receiver = createReceiver({
    store,
    sources: sources(clock),
    handlers,
    clock,
    observer: (signal) => void world.signals.push(signal),
  });
  return Object.assign(world, { receiver });
}

const insert = (event: { readonly id: string }) => (tx: Database.Database) => {
  tx.prepare("insert into effect (id) values (?)").run(event.id);
};

async function onSqlite(): Promise<World> {
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
  return {
    clock,
    store,
    receiver,
    signals: [],
    fail: () => false,
    get applied() {
      return db.prepare("select id from effect order by rowid").pluck().all() as string[];
    },
  };
}

describe.each([
  ["memory", () => Promise.resolve(inMemory())],
  ["SQLite", onSqlite],
])("a receiver on %s that was down for an hour", (_name, open) => {
  it("with 1,000 deliveries at GitHub, 300 of them seen before, applies 700 and doubles none", async () => {
    const world = await open();
    const { clock, receiver, store } = world;
    const log: Made[] = [];
    const api = await githubApi(PATH, () => log);
    const make = () =>
      createRepair({
        receiver,
        store,
        clock,
        logs: { github: githubLog({ egress, token: "ghp_test", hook: HOOK, baseUrl: api.baseUrl }) },
      });
    await make().once();
    // The hour before: 300 deliveries arrive by webhook, in the bytes that GitHub sent.
    for (let n = 0; n < 300; n++) {
      const made = delivery(n, clock.now());
      log.push(made);
      await receive(receiver, made);
      await clock.advance(1000);
    }
    expect(world.applied).toHaveLength(300);
    // Down: 700 more, of which nobody here knows. Every other one is logged in other bytes than were signed.
    for (let n = 300; n < 1000; n++) {
      log.push(delivery(n, clock.now(), n % 2 === 0));
      await clock.advance(5142);
    }
    expect(log).toHaveLength(1000);
    const [report] = await make().once();
    expect(report).toMatchObject({
      source: "github",
      read: 1000,
      applied: 700,
      duplicate: 300,
      unsettled: 0,
    });
    expect(world.applied).toHaveLength(1000);
    expect(new Set(world.applied).size).toBe(1000);
    // Oldest first, as they would have come.
    expect(world.applied.slice(300)).toEqual(log.slice(300).map(({ id }) => id));
    // Ten pages, and a request of its own for each of the 700, none for those that are known.
    expect(api.asked).toHaveLength(710);
    // Again at once: nothing is applied, and nothing is loaded.
    const [again] = await make().once();
    expect(again).toMatchObject({ applied: 0, unsettled: 0 });
    expect(world.applied).toHaveLength(1000);
    expect(api.asked.filter((each) => !each.includes("?")).length).toBe(700);
    // What a person lets GitHub send again is a duplicate, in whatever bytes the log had it.
    for (const made of [log[500], log[501]]) {
      expect(await receive(receiver, made as Made)).toMatchObject({ verdict: "duplicate" });
    }
    expect(world.applied).toHaveLength(1000);
  });

  it("with 250 events at Stripe, 50 of them seen before, applies 200 and doubles none", async () => {
    const world = await open();
    const { clock, receiver, store } = world;
    const log: Made[] = [];
    const api = await stripeApi(() => log);
    const logs = { stripe: stripeLog({ egress, apiKey: "rk_test_fixture", baseUrl: api.baseUrl }) };
    await createRepair({ receiver, store, clock, logs }).once();
    for (let n = 0; n < 250; n++) {
      const made = stripeEvent(n, clock.now());
      log.push(made);
      if (n < 50) {
        const t = Math.floor(clock.now() / 1000);
        const mac = createHmac("sha256", TEST_SECRETS.stripe.verifying)
          .update(`${t}.${made.body}`)
          .digest("hex");
        const headers = { "stripe-signature": `t=${t},v1=${mac}` };
        await receiver.receive("stripe", { headers, body: Buffer.from(made.body) });
      }
      await clock.advance(14_400);
    }
    const [report] = await createRepair({ receiver, store, clock, logs }).once();
    expect(report).toMatchObject({ read: 250, applied: 200, duplicate: 50, unsettled: 0, more: false });
    expect(new Set(world.applied).size).toBe(250);
    expect(world.applied).toHaveLength(250);
    expect(api.asked).toHaveLength(3);
    expect(api.last()).toMatchObject({ authorization: "Bearer rk_test_fixture" });
  });
});

const load = () => Promise.resolve({ headers: {}, body: new Uint8Array() });

describe("a repair", () => {
  it("reads again from what failed, until it is applied, and what follows is not held up", async () => {
    const world = inMemory();
    const { clock, receiver, store } = world;
    const log: Made[] = [];
    const api = await githubApi(PATH, () => log);
    const logs = { github: githubLog({ egress, token: "ghp_test", hook: HOOK, baseUrl: api.baseUrl }) };
    const repair = createRepair({ receiver, store, clock, logs, overlapMs: 1 });
    await repair.once();
    for (let n = 0; n < 3; n++) {
      await clock.advance(60_000);
      log.push(delivery(n, clock.now()));
    }
    world.fail = (id) => id === "guid-1";
    await clock.advance(60_000);
    expect(await repair.once()).toMatchObject([{ applied: 2, unsettled: 1, until: log[1]?.at }]);
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
    const logs = { github: githubLog({ egress, token: "ghp_secret", hook: HOOK, baseUrl: api.baseUrl }) };
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
        github: githubLog({ egress, token: () => Promise.resolve("jwt"), hook: HOOK, baseUrl: api.baseUrl }),
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
    expect(() => githubLog({ egress, token: "t", hook })).toThrow(/hook/);
  });
});
