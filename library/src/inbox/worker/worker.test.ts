import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Signal } from "../../observer.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { settled } from "../../testing/settled.js";
import { fingerprintOf } from "../handler/handler-failure.js";
import { runLength } from "./handler-runs.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "./worker.js";
import type { WorkerOptions } from "./worker-options.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const START = Date.parse("2026-11-15T12:00:00Z");

function down(): never {
  throw new Error("down");
}

function setUp() {
  const clock = createFakeClock({ at: START });
  const store = memoryStore({ clock, environment: "test" });
  const signals: Signal[] = [];
  const effects: string[] = [];
  const observer = (signal: Signal): void => void signals.push(signal);
  const sources = {
    shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), key: { json: "/order" } },
  };
  const receiver = createReceiver({ mode: "store_first", store, clock, observer, sources });
  const post = async (id: string, data: object = {}): Promise<string> => {
    const body = utf8(JSON.stringify({ type: "order.paid", order: "1", ...data }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    const reply = await receiver.receive("shop", { headers, body });
    return `${reply.status} ${reply.verdict}`;
  };
  const worker = (given: Partial<WorkerOptions<MemoryTx, "asynchronous">>) =>
    createWorker({ store, clock, observer, ...given });
  const note = (event: { id: string }, { tx }: { tx: MemoryTx }): void =>
    tx.onCommit(() => effects.push(event.id));
  // Workers wait for turns of the event loop too, which `advance` gives only where somebody wakes.
  const pass = (ms: number): Promise<void> => clock.until(clock.sleep(ms), 1000);
  return { clock, store, signals, effects, receiver, sources, post, worker, note, observer, pass };
}

describe("an event that is stored first", () => {
  it("is answered with success when it is stored, and its duplicates and conflicts as such", async () => {
    const { post, effects } = setUp();
    expect(await post("evt_1")).toBe("204 stored");
    expect(await post("evt_1")).toBe("204 duplicate");
    expect(await post("evt_1", { other: true })).toMatch(/conflict$/);
    expect(effects).toEqual([]);
  });

  it("is finished by a drain that a stop ends, and the stop waits for it: the host may close its database then", async () => {
    const { clock, post, worker, effects } = setUp();
    for (const order of ["1", "2", "3"]) await post(`evt_${order}`, { order });
    const slow = async ({ id }: { readonly id: string }, { tx }: { tx: MemoryTx }): Promise<void> => {
      await clock.sleep(300);
      tx.onCommit(() => effects.push(id));
    };
    const stopped = worker({ slots: 1, handlers: { "order.paid": slow } });
    const draining = stopped.drain();
    await expect.poll(() => clock.sleeping).toBeGreaterThan(0);
    await clock.until(stopped.stop());
    expect(effects).toEqual(["evt_1"]);
    expect(await draining).toEqual({ handled: 1, failed: 0, more: true });
  });

  it("is handled once, in order per key, by a worker that is started later", async () => {
    const { post, worker, note, effects } = setUp();
    for (const id of ["evt_1", "evt_2", "evt_3"]) await post(id);
    const drained = await worker({ handlers: { "order.paid": note } }).drain();
    expect(drained).toEqual({ handled: 3, failed: 0, more: false });
    expect(effects).toEqual(["evt_1", "evt_2", "evt_3"]);
    expect(await worker({ handlers: { "order.paid": note } }).drain()).toMatchObject({ handled: 0 });
  });

  it("that was applied in a transaction of the receiver before is not applied again, and the other way round", async () => {
    const { clock, store, sources, post, worker, note, effects } = setUp();
    const inTransaction = createReceiver({ store, clock, sources, handlers: { "*": note } });
    const body = utf8(JSON.stringify({ type: "order.paid", order: "1" }));
    const again = async (id: string) => {
      const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
      return (await inTransaction.receive("shop", { headers, body })).verdict;
    };
    expect(await again("evt_1")).toBe("applied");
    expect(await post("evt_1")).toBe("204 stored");
    await post("evt_2");
    await worker({ handlers: { "*": note } }).drain();
    expect(effects).toEqual(["evt_1", "evt_2"]);
    expect(await again("evt_2")).toBe("duplicate");
  });

  it("whose type has no handler is recorded as skipped, and those behind it go on", async () => {
    const { post, worker, note, effects, store } = setUp();
    await post("evt_1", { type: "order.seen" });
    await post("evt_2");
    await worker({ handlers: { "order.paid": note } }).drain();
    expect(effects).toEqual(["evt_2"]);
    const row = await store.read({ tenant: "default", source: "shop", id: "evt_1" });
    expect(row?.outcome).toBe("skipped");
  });

  it("whose type another version of the host handles waits for that version", async () => {
    const { post, worker, note, effects, clock, store } = setUp();
    await worker({ handlers: { "order.paid": note, "order.seen": note } }).drain();
    await post("evt_1", { type: "order.seen" });
    await worker({ handlers: { "order.paid": note } }).drain();
    expect(await store.read({ tenant: "default", source: "shop", id: "evt_1" })).toBeUndefined();
    await clock.advance(6000);
    await worker({ handlers: { "order.paid": note, "order.seen": note } }).drain();
    expect(effects).toEqual(["evt_1"]);
  });

  it("whose type another version handles is not kept from that version by workers that are always first", async () => {
    const { post, worker, note, effects, clock, pass } = setUp();
    const versions = [
      { "order.paid": note },
      { "order.paid": note },
      { "order.paid": note, "order.seen": note },
    ];
    const workers = versions.map((handlers) => worker({ handlers, pollMs: 2000 }));
    for (const each of workers) await each.start();
    await post("evt_1", { type: "order.seen" });
    await pass(30_000);
    expect(effects).toEqual(["evt_1"]);
    await clock.until(Promise.all(workers.map((each) => each.stop())));
  });
});

describe("a worker whose store fails", () => {
  it("takes nothing for held that it has not begun: it would have no room for anything else", async () => {
    const { post, note, effects, clock, store, observer, pass } = setUp();
    const failing = new Set(["apply", "release"]);
    const once = <T>(verb: string, ask: () => Promise<T>): Promise<T> =>
      failing.delete(verb) ? Promise.reject(new Error(`${verb} failed`)) : ask();
    const broken: typeof store = {
      ...store,
      apply: (...given) => once("apply", () => store.apply(...given)),
      release: (...given) => once("release", () => store.release(...given)),
    };
    const handlers = { "order.paid": note };
    const single = createWorker({ store: broken, clock, observer, handlers, slots: 1, pollMs: 1000 });
    await single.start();
    await post("evt_1");
    await pass(10_000);
    expect([...failing]).toEqual([]);
    expect(effects).toEqual(["evt_1"]);
    await clock.until(single.stop());
  });

  it("to register again goes on with its claims and its long handlers, tells it, and registers later", async () => {
    const { post, note, effects, clock, store, signals, observer, pass } = setUp();
    let [isDown, registered] = [false, 0];
    const broken: typeof store = {
      ...store,
      register: (...given) => {
        registered += 1;
        return isDown ? Promise.reject(new Error("down")) : store.register(...given);
      },
    };
    const cutOff: unknown[] = [];
    const long = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> => {
      await clock.sleep(300_000, signal);
      cutOff.push(signal.reason);
    };
    const handlers = { "order.paid": note, "order.closed": { long } };
    const one = createWorker({ store: broken, clock, observer, handlers, pollMs: 1000 });
    await one.start();
    isDown = true;
    await post("evt_long", { type: "order.closed", order: "2" });
    await pass(200_000);
    await post("evt_1");
    await pass(5000);
    expect(effects).toEqual(["evt_1"]);
    expect(signals).toContainEqual(expect.objectContaining({ kind: "store_failed", operation: "register" }));
    // Once every 5 s, and not with each claim.
    expect(registered).toBeGreaterThan(20);
    expect(registered).toBeLessThan(35);
    isDown = false;
    await pass(200_000);
    expect(cutOff).toEqual([undefined]);
    await clock.until(one.stop());
  });

  it.each(["waits to be settled", "is on its way"])(
    "runs no other lane that it has given back: its lease was in an answer that %s when another was lost",
    async (when) => {
      const { post, note, effects, clock, store, observer, pass } = setUp();
      const log: string[] = [];
      let isDown = false;
      let told: (() => void) | undefined;
      const isReleased = new Promise<void>((resolve) => (told = resolve));
      const broken: typeof store = {
        ...store,
        claim: (request) => (isDown ? Promise.reject(new Error("down")) : store.claim(request)),
        release: async (worker, held) => {
          const count = await store.release(worker, held);
          if (isDown) log.push(`${count} released`);
          isDown = false;
          told?.();
          return count;
        },
        // As Postgres does it: the transaction of the first has leased the lane of the second.
        apply: async (claim, work, limits) => {
          const [{ event }] = claim.run;
          const applied = await store.apply(claim, work, limits);
          log.push(`${event.receipt?.id} ${applied.kind}`);
          if (event.receipt?.id !== "evt_1" || applied.kind !== "applied") return applied;
          isDown = true;
          await post("evt_2", { order: "2" });
          const of = { kind: "handler", ids: ["hnd_default"] } as const;
          const asked = { ...limits, of, limit: 1, inFlight: new Map(), alone: false };
          const [next] = (await store.claim(asked)).claims;
          if (when === "is on its way") await isReleased;
          return { ...applied, next };
        },
      };
      const soon = (work: () => void): void => void clock.sleep(500).then(work);
      const delayed = {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        sleep: (...given: Parameters<typeof clock.sleep>) => clock.sleep(...given),
        soon,
      };
      const given = { store: broken, observer, handlers: { "*": note }, pollMs: 1000 };
      const one = createWorker({ ...given, clock: delayed });
      await one.start();
      await post("evt_1");
      await pass(5000);
      const released =
        when === "is on its way" ? ["evt_1 applied", "1 released"] : ["evt_1 applied", "0 released"];
      expect(log).toEqual([...released, "evt_2 applied"]);
      expect(effects).toEqual(["evt_1", "evt_2"]);
      await clock.until(one.stop());
    },
  );
});

describe("a key of schemas", () => {
  it("that names a source checks the events of that source, whichever sources the worker takes", async () => {
    const { post, worker, note, effects, signals } = setUp();
    const refusing = {
      version: 1,
      vendor: "test",
      validate: () => ({ issues: [{ message: "no total" }] }),
    } as const;
    await post("evt_1");
    const schemas = { "shop:order.paid": { "~standard": refusing }, "other:*": { "~standard": refusing } };
    expect(await worker({ handlers: { "*": note }, schemas }).drain()).toMatchObject({ failed: 1 });
    expect(effects).toEqual([]);
    expect(signals).toContainEqual(
      expect.objectContaining({ why: expect.stringContaining("no total") as string }),
    );
  });
});

describe("a key of handlers", () => {
  it("that names another source leaves the events of this one to be skipped, not to wait for ever", async () => {
    const { post, worker, note, effects, store } = setUp();
    await post("evt_1");
    expect(await worker({ handlers: { "other:order.paid": note } }).drain()).toMatchObject({ handled: 1 });
    expect(effects).toEqual([]);
    const row = await store.read({ tenant: "default", source: "shop", id: "evt_1" });
    expect(row?.outcome).toBe("skipped");
  });

  it.each(["order.*", "shop:order.*", "*.paid"])("%s is no pattern, and refused", (key) => {
    const { worker, note } = setUp();
    expect(() => worker({ handlers: { [key]: note } })).toThrow(/no pattern/);
  });
});

describe("a handler that fails", () => {
  it("is rolled back, runs again by its retry policy, and those behind it wait", async () => {
    const { post, worker, effects, clock, store } = setUp();
    await post("evt_1");
    await post("evt_2");
    let broken = true;
    const handlers = {
      "*": (event: { id: string }, { tx }: { tx: MemoryTx }) => {
        tx.onCommit(() => effects.push(event.id));
        if (broken && event.id === "evt_1") throw new RangeError("no such invoice");
      },
    };
    expect(await worker({ handlers, retry: { firstMs: 1000, jitter: 0 } }).drain()).toMatchObject({
      failed: 1,
    });
    expect(effects).toEqual([]);
    const [lane] = (await store.blockedLanes({ limit: 10 })).items;
    const [attempt] = await store.attempts(`dlv_${lane?.id}_${lane?.head}`);
    expect(attempt).toMatchObject({ outcome: "failed", error: "RangeError: no such invoice" });
    expect(attempt?.details?.fingerprint).toMatch(/^RangeError .*@worker\.test\.ts:\d+$/);
    broken = false;
    await clock.advance(1000);
    await worker({ handlers }).drain();
    expect(effects).toEqual(["evt_1", "evt_2"]);
  });

  it("is dead after its last attempt, halts its lane, and is redriven in its place", async () => {
    const { post, worker, note, effects, store, signals } = setUp();
    await post("evt_1");
    await post("evt_2");
    await post("evt_9", { order: "2" });
    const failing = {
      "*": (event: { id: string }, context: { tx: MemoryTx }) => {
        if (event.id === "evt_1") throw new Error("for good");
        note(event, context);
      },
    };
    await worker({ handlers: failing, retry: { waitsMs: [] } }).drain();
    expect(effects).toEqual(["evt_9"]);
    expect(signals).toContainEqual(
      expect.objectContaining({ kind: "delivery_dead", endpoint: "hnd_default" }),
    );
    const [dead] = (await store.deadLetters({ limit: 10 })).items;
    expect(await store.redrive(dead?.id ?? "")).toBe("in_place");
    await worker({ handlers: { "*": note } }).drain();
    expect(effects).toEqual(["evt_9", "evt_1", "evt_2"]);
  });

  it("in the middle of a run costs those before it nothing: they are applied, one by one", async () => {
    const { post, worker, effects } = setUp();
    const handlers = {
      "*": (event: { id: string }, { tx }: { tx: MemoryTx }) => {
        if (event.id === "evt_4") throw new Error("the fourth");
        tx.onCommit(() => effects.push(event.id));
      },
    };
    const one = worker({ handlers });
    await post("evt_0");
    await one.drain();
    for (let n = 1; n <= 6; n++) await post(`evt_${n}`);
    await one.drain();
    expect(effects).toEqual(["evt_0", "evt_1", "evt_2", "evt_3"]);
  });
});

describe("a worker", () => {
  it("runs each of several consumers of an event, each with its own outcome", async () => {
    const { post, worker, effects } = setUp();
    const noted =
      (name: string) =>
      (event: { id: string }, { tx }: { tx: MemoryTx }) =>
        tx.onCommit(() => effects.push(`${name} ${event.id}`));
    await post("evt_1");
    await worker({
      consumers: { billing: { handlers: { "*": noted("billing") } }, crm: { handlers: { "*": down } } },
    }).drain();
    expect(effects).toEqual(["billing evt_1"]);
  });

  it("runs in the background until it is stopped, and hands over what it has", async () => {
    const { post, worker, note, effects, clock, store } = setUp();
    const started = worker({ handlers: { "*": note } });
    await started.start();
    await post("evt_1");
    await settled(started);
    await clock.until(started.stop());
    expect(effects).toEqual(["evt_1"]);
    expect(await store.release("anybody", [])).toBe(0);
  });

  it("holds no slot for a skip that its database never answers: that has the deadline of a handler", async () => {
    const { post, note, clock, store, observer } = setUp();
    await post("evt_1", { type: "order.seen" });
    const silent: typeof store = {
      ...store,
      apply: (_claim, _work, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ kind: "failed", error: signal.reason }));
        }),
    };
    const one = createWorker({
      store: silent,
      clock,
      observer,
      handlers: { "order.paid": note },
      handlerDeadlineMs: 1000,
    });
    expect(await clock.until(one.drain({ deadlineMs: 500 }))).toEqual({ handled: 0, failed: 1, more: true });
  });

  it("cuts off a handler at its deadline, and counts that as a failure", async () => {
    const { post, worker, effects, clock } = setUp();
    await post("evt_1");
    const draining = worker({
      handlers: { "*": () => new Promise(() => undefined) },
      handlerDeadlineMs: 1000,
    }).drain();
    expect(await clock.until(draining)).toMatchObject({ failed: 1 });
    expect(effects).toEqual([]);
  });

  it("is refused with options that cannot work", () => {
    const { worker, note, store, clock } = setUp();
    const handlers = { "*": note };
    expect(() => worker({})).toThrow(/needs `handlers` or `consumers`; it was given neither/);
    expect(() => worker({ handlers, leaseMs: 30_000 })).toThrow(/leaseMs is 30000/);
    expect(() => worker({ consumers: { default: { handlers } } })).toThrow(/"default"/);
    const pooled = { ...store, connections: 10 };
    expect(() => createWorker({ store: pooled, clock, handlers, slots: 9 })).toThrow(/at most 8/);
    const single = { ...store, connections: 1 };
    expect(() => createWorker({ store: single, clock, handlers, slots: 2 })).toThrow(/at most 1 .*pool of 1/);
  });

  it.each([
    [1, 1],
    [2, 1],
    [2, undefined],
  ])("starts nothing in the background on a pool of %i with slots %s, and drains on it", async (...given) => {
    const [connections, slots] = given;
    const { post, note, store, clock, effects } = setUp();
    const handlers = { "*": note };
    const pooled = { ...store, connections };
    const small = createWorker({ store: pooled, clock, handlers, ...(slots !== undefined && { slots }) });
    await post("evt_1");
    await expect(small.start()).rejects.toThrow(/3 or more/);
    await small.drain();
    expect(effects).toEqual(["evt_1"]);
  });
});

it("a run is as long as takes a quarter of a second, and one event until that is known", () => {
  expect(runLength(undefined, 8)).toBe(1);
  expect([0.1, 10, 100, 10_000].map((ms) => runLength(ms, 8))).toEqual([8, 8, 2, 1]);
});

it("a failure's fingerprint is its class and the first frame of the host's own code", () => {
  const error = new TypeError("x");
  error.stack =
    "TypeError: x\n    at f (/a/node_modules/pg/lib.js:1:2)\n    at pay (/srv/app/billing.js:41:7)";
  expect(fingerprintOf(error)).toBe("TypeError pay@billing.js:41");
  expect(fingerprintOf("text")).toBe("thrown string");
});
