import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "./worker.js";
import type { ConsumerOptions, WorkerOptions } from "./worker-options.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const HOUR_MS = 3_600_000;

type Options = Partial<WorkerOptions<MemoryTx, "asynchronous">>;

/** Two versions of one host: `effects` says which version applied which event for which consumer. */
function setUp() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const effects: string[] = [];
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const source = { verifier, key: { json: "/key" } };
  const sources = { shop: source, pay: source };
  const receiver = createReceiver({ mode: "store_first", store, clock, observer: () => undefined, sources });
  const post = async (name: "shop" | "pay", id: string, key: string = id): Promise<void> => {
    const body = utf8(JSON.stringify({ type: "paid", key }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    expect((await receiver.receive(name, { headers, body })).verdict).toBe("stored");
  };
  const note =
    (who: string) =>
    (event: { id: string }, { tx }: { tx: MemoryTx }) =>
      tx.onCommit(() => effects.push(`${who} ${event.id}`));
  const consumer = (
    who: string,
    given: Omit<ConsumerOptions<MemoryTx, "asynchronous">, "handlers">,
    ...keys: string[]
  ) => ({ ...given, handlers: Object.fromEntries(keys.map((key) => [key, note(who)])) });
  const worker = (given: Options) => createWorker({ store, clock, observer: () => undefined, ...given });
  const outcome = async (name: string, id: string) =>
    (await store.inboxRowsOf("default", name, id)).find((row) => row.consumer.endsWith("billing"))?.outcome;
  // Workers wait for turns of the event loop too, which `advance` gives only where somebody wakes.
  const pass = (ms: number): Promise<void> => clock.until(clock.sleep(ms), 1000);
  return { clock, store, effects, post, consumer, worker, outcome, pass };
}

describe("two versions of a host that differ in their sources", () => {
  it("each register again, and a source that one of them names reaches its consumer, whichever spoke last", async () => {
    const { clock, effects, post, consumer, worker, pass } = setUp();
    const crm = consumer("crm", {}, "*");
    const older = worker({ consumers: { billing: consumer("old", { sources: ["shop"] }, "*"), crm } });
    const newer = worker({ consumers: { billing: consumer("new", { sources: ["shop", "pay"] }, "*"), crm } });
    await older.start();
    await newer.start();
    // Both have said again that they are there, the old one last.
    await pass(65_000);
    await older.drain();
    await post("pay", "evt_1");
    await pass(30_000);
    expect(effects.toSorted()).toEqual(["crm evt_1", "new evt_1"]);
    await clock.until(Promise.all([older.stop(), newer.stop()]));
  });

  it("leave an event to the version that names its source, also where the other has a handler for everything", async () => {
    const { clock, effects, post, consumer, worker, outcome } = setUp();
    const older = worker({ consumers: { billing: consumer("old", { sources: ["shop"] }, "*") } });
    const newer = worker({ consumers: { billing: consumer("new", { sources: ["shop", "pay"] }, "*") } });
    await newer.drain();
    await post("pay", "evt_1");
    await older.drain();
    expect([effects, await outcome("pay", "evt_1")]).toEqual([[], undefined]);
    await clock.advance(6000);
    await newer.drain();
    expect(effects).toEqual(["new evt_1"]);
  });

  it("no longer count together an hour after the older one was last there: a source that was removed is gone", async () => {
    const { clock, store, consumer, worker } = setUp();
    const older = worker({ consumers: { billing: consumer("old", { sources: ["shop", "pay"] }, "*") } });
    const newer = worker({ consumers: { billing: consumer("new", { sources: ["shop"] }, "*") } });
    const sources = async () => (await store.readHandlers(["hnd_billing"]))[0]?.sources.toSorted();
    await older.drain();
    await newer.drain();
    expect(await sources()).toEqual(["pay", "shop"]);
    await clock.advance(HOUR_MS - 1000);
    await newer.drain();
    expect(await sources()).toEqual(["pay", "shop"]);
    await clock.advance(1000);
    await newer.drain();
    expect(await sources()).toEqual(["shop"]);
  });

  it("record what waits of a source that no version names any more as skipped, and those behind it go on", async () => {
    const { clock, effects, post, consumer, worker, outcome } = setUp();
    const older = worker({ consumers: { billing: consumer("old", { sources: ["shop", "pay"] }, "*") } });
    const newer = worker({ consumers: { billing: consumer("new", { sources: ["shop"] }, "*") } });
    await older.drain();
    await post("pay", "evt_1");
    await newer.drain();
    await clock.advance(HOUR_MS);
    await newer.drain();
    expect([effects, await outcome("pay", "evt_1")]).toEqual([[], "skipped"]);
  });
});

describe("two versions of a host that differ in their slots", () => {
  it("leave the registration alone, however often they take turns", async () => {
    const { clock, store, consumer, worker } = setUp();
    const consumers = { billing: consumer("billing", {}, "*") };
    await worker({ consumers, slots: 16 }).drain();
    const [first] = await store.readHandlers();
    for (const slots of [1, 16, 2, 16]) {
      await clock.advance(1000);
      await worker({ consumers, slots }).drain();
    }
    expect(await store.readHandlers()).toEqual([first]);
  });

  it("have as much under way as their own slots allow, whichever registered last", async () => {
    const { store, clock, post } = setUp();
    const running = { one: 0, three: 0 };
    const most = { one: 0, three: 0 };
    const busy = (who: "one" | "three") => async () => {
      most[who] = Math.max(most[who], ++running[who]);
      await clock.sleep(100);
      running[who]--;
    };
    const common = { store, clock, observer: () => undefined };
    const three = createWorker({ ...common, slots: 3, handlers: { "*": busy("three") } });
    const one = createWorker({ ...common, slots: 1, handlers: { "*": busy("one") } });
    await three.start();
    await one.drain();
    for (let n = 0; n < 6; n++) await post("shop", `evt_${n}`);
    await clock.until(clock.sleep(2000), 100);
    await clock.until(three.stop());
    await three.drain();
    for (let n = 6; n < 9; n++) await post("shop", `evt_${n}`);
    await clock.until(one.drain());
    expect(most).toEqual({ one: 1, three: 3 });
  });
});

describe("a worker of a version that has removed a source", () => {
  it("lets the older version claim first for a tenth of the time, however long events of that source wait", async () => {
    const { clock, store, post, consumer, worker, pass } = setUp();
    const older = worker({ consumers: { billing: consumer("old", { sources: ["shop", "pay"] }, "*") } });
    await older.drain();
    const waits: number[] = [];
    // What comes before a claim: a pause of 100 ms where others are let first.
    const sleep: typeof clock.sleep = (ms, signal) => {
      if (ms === 100) waits.push(clock.monotonic());
      return clock.sleep(ms, signal);
    };
    const noted = { now: () => clock.now(), monotonic: () => clock.monotonic(), sleep };
    const newer = createWorker({
      store,
      clock: noted,
      observer: () => undefined,
      pollMs: 5000,
      consumers: { billing: consumer("new", { sources: ["shop"] }, "*") },
    });
    await newer.start();
    await post("pay", "evt_1");
    const from = clock.monotonic();
    await pass(900_000);
    await clock.until(newer.stop());
    // Every 5 s, when it is due again: nobody else has to be faster than this worker, which is idle.
    const tens = new Set(waits.map((at) => Math.floor((at - from) / 10_000))).size;
    expect(tens).toBe(90);
    // Of 900 s.
    expect(waits.length * 100).toBeLessThanOrEqual(90_000);
  });
});

describe("two versions of a host whose handlers are of one type and different sources", () => {
  it("leave an event to the version that handles its type for its source", async () => {
    const { clock, effects, post, consumer, worker, outcome } = setUp();
    const older = worker({ consumers: { billing: consumer("old", {}, "shop:paid") } });
    const newer = worker({ consumers: { billing: consumer("new", {}, "shop:paid", "pay:paid") } });
    await newer.drain();
    await post("pay", "evt_1");
    await older.drain();
    expect([effects, await outcome("pay", "evt_1")]).toEqual([[], undefined]);
    await clock.advance(6000);
    await newer.drain();
    expect(effects).toEqual(["new evt_1"]);
  });
});
