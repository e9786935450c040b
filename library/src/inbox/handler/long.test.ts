import { describe, expect, expectTypeOf, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Signal } from "../../observer.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import type { NewestContext, ReceivedEvent } from "./handlers.js";
import { typed } from "./handlers.js";
import { long } from "./long.js";
import type { LongContext } from "./long.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "../worker/worker.js";
import type { WorkerOptions } from "../worker/worker-options.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
// Long against the lease, as hours are against that of a real worker.
const LONG_MS = 60_000;
const TIMES = { leaseMs: 6000, handlerDeadlineMs: 500, pollMs: 500, stopGraceMs: 5000 };

function setUp() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const log: string[] = [];
  const signals: Signal[] = [];
  const sources = {
    shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), key: { json: "/order" } },
  };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources });
  const post = async (id: string, data: object = {}): Promise<unknown> => {
    const body = utf8(JSON.stringify({ type: "order.closed", order: "1", ...data }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    return receiver.receive("shop", { headers, body });
  };
  const worker = (given: Partial<WorkerOptions<MemoryTx, "asynchronous">>) =>
    createWorker({ store, clock, ...TIMES, observer: (signal) => void signals.push(signal), ...given });
  /** Takes some time, unless it is cut off, and says so. */
  const slow = (ms: number) =>
    long(
      async ({ id }: ReceivedEvent, { signal }: { readonly signal: AbortSignal }) => {
        log.push(`begins ${id}`);
        signal.addEventListener("abort", () =>
          log.push(`${id}: ${(signal.reason as { code: string }).code}`),
        );
        await clock.sleep(ms, signal);
        return (tx: MemoryTx): void => tx.onCommit(() => log.push(`effect of ${id}`));
      },
      { deadlineMs: 10 * LONG_MS },
    );
  const note = ({ id }: ReceivedEvent, { tx }: { readonly tx: MemoryTx }): void =>
    tx.onCommit(() => log.push(`effect of ${id}`));
  const row = (id: string) => store.read({ tenant: "default", source: "shop", id });
  const attempts = async () => {
    const [lane] = (await store.blockedLanes({ limit: 10 })).items;
    return lane === undefined ? [] : store.attempts(`dlv_${lane.id}_${lane.head}`);
  };
  /** Lets time pass in steps, and what waits for no clock have its turns. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 250) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await clock.advance(250);
    }
  };
  return { clock, pass, store, log, signals, post, worker, slow, note, row, attempts };
}

describe("a long handler", () => {
  it("asks in its end whether its event is the newest, and is recorded as dropped where it is not", async () => {
    const { pass, post, worker, log, row } = setUp();
    const handler = long(({ id, data }: ReceivedEvent<{ version: number }>) => {
      return async (tx: MemoryTx, { newest }: NewestContext) => {
        if (await newest("report", BigInt(data.version))) tx.onCommit(() => log.push(id));
      };
    });
    for (const [n, version] of [2, 1, 2, 3].entries()) await post(`evt_${n}`, { version });
    const one = worker({ handlers: { "order.closed": handler } });
    await one.start();
    await pass(5000);
    await one.stop();
    expect(log).toEqual(["evt_0", "evt_3"]);
    const outcomes = [await row("evt_0"), await row("evt_1"), await row("evt_2"), await row("evt_3")];
    expect(outcomes.map((each) => each?.outcome)).toEqual(["success", "dropped", "dropped", "success"]);
  });

  it("runs for hours under a lease that is kept, and its end writes in the transaction that marks its event", async () => {
    const { clock, pass, post, worker, slow, note, log, row } = setUp();
    for (const id of ["evt_1", "evt_2"]) await post(id);
    await post("evt_9", { type: "order.seen", order: "2" });
    const handlers = { "order.closed": slow(LONG_MS), "order.seen": note };
    const one = worker({ handlers });
    const other = worker({ handlers });
    await one.start();
    await pass(10_000);
    await other.start();
    await pass(LONG_MS - 20_000);
    expect(log).toEqual(["begins evt_1", "effect of evt_9"]);
    expect(await row("evt_1")).toBeUndefined();
    await pass(20_000);
    expect(log.slice(2)).toEqual(["effect of evt_1", "begins evt_2"]);
    expect((await row("evt_1"))?.outcome).toBe("success");
    await pass(LONG_MS);
    expect(log.slice(4)).toEqual(["effect of evt_2"]);
    await clock.until(Promise.all([one.stop(), other.stop()]));
  });

  it("whose lease is lost is told by its signal, and nothing of it is marked; it runs again", async () => {
    const { clock, pass, store, post, worker, slow, note, log, row } = setUp();
    await post("evt_1");
    let isLost = false;
    const losing = {
      ...store,
      extend: (...given: Parameters<typeof store.extend>) =>
        isLost ? Promise.resolve([false]) : store.extend(...given),
    };
    const one = createWorker({ store: losing, clock, ...TIMES, handlers: { "*": slow(LONG_MS) } });
    const draining = one.drain();
    await pass(20_000);
    isLost = true;
    await pass(5000);
    expect(await draining).toMatchObject({ handled: 0, failed: 0 });
    expect(log).toEqual(["begins evt_1", "evt_1: handler_cut_off"]);
    expect(await row("evt_1")).toBeUndefined();
    // Nobody keeps the lease any more: it lapses, and the interruption is recorded.
    await pass(7000);
    await worker({ handlers: { "*": note } }).drain();
    expect(log.at(-1)).toBe("effect of evt_1");
  });

  it.each(["roundOf", "apply"] as const)(
    "whose store never answers to %s keeps its lease no longer than the store is waited for: it runs again",
    async (verb) => {
      const { clock, pass, store, post, slow, log } = setUp();
      await post("evt_1");
      let isSilent = true;
      const once = (...given: unknown[]): unknown => {
        if (!isSilent) return (store[verb] as (...all: unknown[]) => unknown)(...given);
        isSilent = false;
        return new Promise<never>(() => undefined);
      };
      const silent = { ...store, [verb]: once };
      const one = createWorker({ store: silent, clock, ...TIMES, handlers: { "*": slow(1000) } });
      await one.start();
      // The store is silent for a lease, the lease ends, and the handler runs.
      await pass(1000 + 3 * TIMES.leaseMs);
      expect(log.at(-1)).toBe("effect of evt_1");
    },
  );

  it("is cut off by `stop` after the grace, and its lease is given back uncounted", async () => {
    const { clock, pass, post, worker, slow, note, log, attempts } = setUp();
    await post("evt_1");
    const one = worker({ handlers: { "*": slow(LONG_MS) }, stopGraceMs: 5000 });
    await one.start();
    await pass(20_000);
    const stopping = one.stop();
    await pass(4000);
    expect(log).toEqual(["begins evt_1"]);
    await pass(2000);
    await stopping;
    expect(log.slice(1)).toEqual(["evt_1: handler_cut_off"]);
    expect(await attempts()).toEqual([]);
    expect(clock.sleeping).toBe(0);
    await worker({ handlers: { "*": note } }).drain();
    expect(log.at(-1)).toBe("effect of evt_1");
  });

  it("that ends within the grace of `stop` is marked", async () => {
    const { clock, pass, post, worker, slow, log } = setUp();
    await post("evt_1");
    const one = worker({ handlers: { "*": slow(20_000) } });
    await one.start();
    await pass(17_000);
    await clock.until(one.stop());
    expect(log).toEqual(["begins evt_1", "effect of evt_1"]);
  });

  it("that passes its deadline has failed, and is tried again by its policy", async () => {
    const { clock, post, worker, log, attempts } = setUp();
    await post("evt_1");
    let told: unknown;
    const handlers = {
      "*": {
        long: (_: ReceivedEvent, { signal }: { readonly signal: AbortSignal }) =>
          clock.sleep(LONG_MS, signal).then(() => void (told = signal.reason)),
        deadlineMs: 9000,
      },
    };
    expect(await clock.until(worker({ handlers }).drain(), 500)).toMatchObject({ failed: 1 });
    expect(told).toMatchObject({ code: "handler_deadline" });
    expect(await attempts()).toMatchObject([{ outcome: "failed", durationMs: 9000 }]);
    expect(log).toEqual([]);
  });

  it("that throws, or whose end throws, has failed, and what its end wrote is rolled back", async () => {
    const { post, worker, log, attempts } = setUp();
    await post("evt_1");
    const handlers = {
      "*": long(() => (tx: MemoryTx) => {
        tx.onCommit(() => log.push("effect"));
        throw new RangeError("at the end");
      }),
    };
    expect(await worker({ handlers }).drain()).toMatchObject({ failed: 1 });
    expect(log).toEqual([]);
    expect(await attempts()).toMatchObject([{ error: "RangeError: at the end" }]);
  });

  it("is not run for an event that was applied within its request before", async () => {
    const { clock, store, post, worker, slow, signals, log } = setUp();
    const verifier = standardWebhooks({ secrets: SECRET, clock });
    const inRequest = createReceiver({
      store,
      clock,
      sources: { shop: { verifier } },
      handlers: { "*": () => {} },
    });
    const body = utf8(JSON.stringify({ type: "order.closed", order: "1" }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id: "evt_1", body });
    expect((await inRequest.receive("shop", { headers, body })).verdict).toBe("applied");
    for (const id of ["evt_1", "evt_2"]) await post(id);
    expect(await clock.until(worker({ handlers: { "*": slow(1000) } }).drain(), 500)).toMatchObject({
      handled: 2,
    });
    expect(log).toEqual(["begins evt_2", "effect of evt_2"]);
    const told = signals.flatMap((signal) =>
      signal.kind === "event_handled" ? [`${signal.id} ${signal.outcome}`] : [],
    );
    expect(told).toEqual(["evt_1 duplicate", "evt_2 applied"]);
  });

  it("is not run for an event that a person has called applied since its replay", async () => {
    const { clock, store, post, worker, slow, log } = setUp();
    await post("evt_1");
    const one = worker({ handlers: { "*": slow(1000) } });
    await clock.until(one.drain(), 500);
    const address = { tenant: "default", source: "shop", id: "evt_1", consumer: "" };
    expect(await store.stageAgain([{ ...address, verb: "replay" }])).toEqual(["staged"]);
    expect(await store.markApplied({ ...address, round: 2 })).toBe(true);
    expect(await clock.until(one.drain(), 500)).toMatchObject({ handled: 1 });
    expect(log).toEqual(["begins evt_1", "effect of evt_1"]);
  });

  it("that ran before its event was replayed once more runs again in the new round, and marks nothing of the old one", async () => {
    const { clock, store, post, worker, log } = setUp();
    const keys: string[] = [];
    const address = { tenant: "default", source: "shop", id: "evt_1", consumer: "" };
    const handler = long(async (_event: ReceivedEvent, { idempotencyKey }: LongContext) => {
      const key = idempotencyKey("report");
      keys.push(key);
      if (keys.length === 2) {
        await store.markApplied({ ...address, round: 2 });
        await store.stageAgain([{ ...address, verb: "replay" }]);
      }
      return (tx: MemoryTx): void => tx.onCommit(() => log.push(key));
    });
    const one = worker({ handlers: { "*": handler } });
    await post("evt_1");
    await clock.until(one.drain(), 500);
    await store.stageAgain([{ ...address, verb: "replay" }]);
    await clock.until(one.start());
    await clock.until(clock.sleep(5000), 500);
    await clock.until(one.stop(), 500);
    const [first, , third] = keys;
    expect(new Set(keys).size).toBe(3);
    expect(log).toEqual([first, third]);
  });

  it("is not run again after a commit whose answer was lost", async () => {
    const { clock, store, post, slow, log } = setUp();
    await post("evt_1");
    let isLost = true;
    const forgetful = {
      ...store,
      apply: async (...given: Parameters<typeof store.apply>) => {
        const applied = await store.apply(...given);
        if (!isLost || applied.kind !== "applied") return applied;
        isLost = false;
        throw new Error("the answer was lost");
      },
    };
    await post("evt_2");
    const one = createWorker({
      store: forgetful,
      clock,
      ...TIMES,
      observer: () => {},
      handlers: { "*": slow(1000) },
    });
    await clock.until(one.drain(), 500);
    expect(log).toEqual(["begins evt_1", "effect of evt_1", "begins evt_2", "effect of evt_2"]);
  });

  it("is run after all where its event is forgotten while it is found to be applied", async () => {
    const { clock, store, post, slow, log } = setUp();
    await post("evt_1");
    let isFirst = true;
    const late = {
      ...store,
      roundOf: (...given: Parameters<typeof store.roundOf>) => {
        if (!isFirst) return store.roundOf(...given);
        isFirst = false;
        return Promise.resolve({ round: 1, outcome: "success" as const });
      },
    };
    const one = createWorker({ store: late, clock, ...TIMES, handlers: { "*": slow(1000) } });
    await clock.until(one.start());
    await clock.until(clock.sleep(5000), 500);
    await clock.until(one.stop(), 500);
    expect(log).toEqual(["begins evt_1", "effect of evt_1"]);
  });

  it("may return what is to be kept in place of an end, or nothing", async () => {
    const { post, worker, row } = setUp();
    await post("evt_1");
    await post("evt_2", { type: "order.seen" });
    const handlers = { "order.closed": long(() => ({ pages: 3 })), "*": long(() => undefined) };
    expect(await worker({ handlers }).drain()).toMatchObject({ handled: 2 });
    expect(await row("evt_1")).toMatchObject({ outcome: "success", result: '{"pages":3}' });
    expect((await row("evt_2"))?.outcome).toBe("success");
  });

  it("waits for a connection to mark its event, and does not run again for that", async () => {
    const { clock, store, post, log, slow } = setUp();
    await post("evt_1");
    let full = 3;
    const crowded = {
      ...store,
      apply: (...given: Parameters<typeof store.apply>) =>
        full-- > 0 ? Promise.resolve({ kind: "saturated" as const }) : store.apply(...given),
    };
    const one = createWorker({ store: crowded, clock, ...TIMES, handlers: { "*": slow(1000) } });
    await clock.until(one.drain(), 500);
    expect(log).toEqual(["begins evt_1", "effect of evt_1"]);
  });

  it("holds up nothing that has to run alone", async () => {
    const { clock, pass, post, worker, slow, note, log, store } = setUp();
    await post("evt_lapses", { type: "order.seen", order: "2" });
    const handlers = { "order.closed": slow(LONG_MS), "order.seen": note };
    await worker({ consumers: { a: { handlers } } }).drain({ deadlineMs: 1 });
    log.splice(0);
    await post("evt_lapses_too", { type: "order.seen", order: "3" });
    const of = { kind: "handler", ids: ["hnd_a"] } as const;
    const run = { maxEvents: 1, maxBytes: 1 };
    const terms = { of, run, worker: "killed", limit: 9, leaseMs: 1000, inFlight: new Map(), alone: false };
    for (let n = 0; n < 3; n++) {
      await store.claim(terms);
      await clock.advance(1001);
    }
    await post("evt_1");
    const one = worker({ consumers: { a: { handlers } } });
    await one.start();
    await pass(LONG_MS / 2);
    expect(log).toEqual(["begins evt_1", "effect of evt_lapses_too"]);
    await clock.until(one.stop(), 1000);
  });

  it("has the types of its event and of its end's transaction", () => {
    const { store } = setUp();
    createWorker({
      store,
      schemas: { "order.closed": typed<{ readonly total: number }>() },
      handlers: {
        "order.closed": {
          long: (event, { idempotencyKey }) => {
            expectTypeOf(event.data).toEqualTypeOf<{ readonly total: number }>();
            expectTypeOf(idempotencyKey).toBeFunction();
            return (tx, { publish }) => {
              expectTypeOf(tx).toEqualTypeOf<MemoryTx>();
              expectTypeOf(publish).toBeFunction();
            };
          },
        },
      },
    });
    expect(() => long(undefined)).toThrow(/type undefined/);
    expect(() => long(() => undefined, { deadlineMs: 0 })).toThrow(/deadlineMs is 0/);
  });
});
