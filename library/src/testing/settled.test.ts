import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.js";
import { createReceiver } from "../inbox/receiver.js";
import type { OrderOptions } from "../inbox/source.js";
import { createWorker } from "../inbox/worker/worker.js";
import type { WorkerOptions } from "../inbox/worker/worker-options.js";
import { createOperator } from "../operator/operator.js";
import { createSender } from "../outbox/sender.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { createSigner, signSync } from "../signature/sign.js";
import type { MemoryTx } from "../stores/memory/client/transaction.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "./fake-clock.js";
import { settled } from "./settled.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function setUp(given: Partial<WorkerOptions<MemoryTx, "asynchronous">> = {}, order?: OrderOptions) {
  const clock = createFakeClock();
  const store = memoryStore({ clock, environment: "test" });
  const sender = createSender({ store, clock });
  const sources = {
    shop: {
      verifier: standardWebhooks({ secrets: SECRET, clock }),
      key: { json: "/order" },
      ...(order && { order }),
    },
  };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources, observer: () => undefined });
  const post = async (id: string, data: object = {}): Promise<void> => {
    const body = utf8(JSON.stringify({ type: "order.paid", order: "1", ...data }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    await receiver.receive("shop", { headers, body });
  };
  const worker = createWorker({
    store,
    clock,
    publisher: sender,
    handlers: { "*": () => undefined },
    ...given,
  });
  return { clock, store, receiver, sender, worker, post };
}

describe("settled", () => {
  it("says what was applied, in order, and what was published, since it was last asked", async () => {
    const handlers = {
      "order.paid": async (event: { id: string }, context: { publish?: unknown }) => {
        const publish = context.publish as (event: object) => Promise<void>;
        await publish({ type: "mail.wanted", key: "1", data: { for: event.id } });
      },
    };
    const { receiver, worker, sender, post } = setUp({ handlers });
    await post("evt_1");
    await post("evt_2");
    await post("evt_3", { type: "order.seen" });
    const { applied, handled, published } = await settled(receiver, worker, sender);
    expect(applied).toEqual(["evt_1", "evt_2"]);
    expect(handled.map(({ id, consumer, outcome }) => [id, consumer, outcome])).toEqual([
      ["evt_1", "default", "applied"],
      ["evt_2", "default", "applied"],
      ["evt_3", "default", "skipped"],
    ]);
    expect(published).toMatchObject([
      { type: "mail.wanted", key: "1" },
      { type: "mail.wanted", key: "1" },
    ]);
    await post("evt_4");
    expect(await settled(receiver, worker, sender)).toMatchObject({
      applied: ["evt_4"],
      published: [{ type: "mail.wanted" }],
    });
    expect(await settled(worker)).toEqual({ applied: [], handled: [], published: [] });
  });

  it("waits for a worker in the background, whose handler is under way", async () => {
    const { receiver, worker, post, clock } = setUp({
      handlers: { "*": () => new Promise<void>((resolve) => setTimeout(resolve, 30)) },
    });
    await worker.start();
    await post("evt_1");
    expect((await settled(receiver, worker, { advance: true })).applied).toEqual(["evt_1"]);
    await clock.until(worker.stop());
  });

  it("turns a fake clock from retry to retry, until nothing is due", async () => {
    let failures = 3;
    const { worker, post, clock } = setUp({
      handlers: {
        "*": () => {
          if (failures-- > 0) throw new Error("down");
        },
      },
      retry: { firstMs: 1000, jitter: 0 },
    });
    await post("evt_1");
    const from = clock.now();
    const { handled } = await settled(worker, { advance: true });
    expect(handled.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed", "applied"]);
    expect(clock.now() - from).toBe(1000 + 4000 + 16_000);
  });

  it("turns it no further than it is asked to, and leaves what is due later", async () => {
    const { worker, post, clock } = setUp({
      handlers: {
        "*": () => {
          throw new Error("down");
        },
      },
      retry: { firstMs: 1000, jitter: 0 },
    });
    await post("evt_1");
    const until = new Date(clock.now() + 3000);
    expect((await settled(worker, { until })).handled).toHaveLength(2);
    expect(clock.now()).toBe(until.getTime());
  });

  it("says at once what still waits, where time stands still", async () => {
    const { worker, post } = setUp({
      handlers: {
        "*": () => {
          throw new Error("down");
        },
      },
      retry: { firstMs: 1000, jitter: 0 },
    });
    await post("evt_1");
    await expect(settled(worker)).rejects.toThrow(
      /clock stands still. Still waiting: 1 of hnd_default, key "1" \(retrying, 1 failures, due in 1000 ms\).*advance: true/,
    );
  });

  it("gives up on a handler that never returns, in real time, and names its event's lane", async () => {
    const { worker, post } = setUp({ handlers: { "*": () => new Promise(() => undefined) } });
    await post("evt_1");
    await expect(settled(worker, { timeoutMs: 20 })).rejects.toThrow(
      /a handler has not returned. Still waiting: 1 of hnd_default/,
    );
  });

  it("names retries that it has waited for in real time, with their errors, and blames no handler", async () => {
    const store = memoryStore({ environment: "test" });
    const verifier = standardWebhooks({ secrets: SECRET });
    const receiver = createReceiver({ mode: "store_first", store, sources: { shop: verifier } });
    // Of a database, which is asked when the time is up: it has not answered, and no handler is under way.
    const handlers = {
      "order.paid": () => {
        Object.assign(store, { sequence: () => new Promise(() => undefined) });
        throw new Error("the bank is down");
      },
    };
    const worker = createWorker({ store, handlers, observer: () => undefined });
    const body = utf8('{"type":"order.paid"}');
    const headers = signSync(createSigner({ secrets: SECRET }), { id: "evt_1", body });
    await receiver.receive("shop", { headers, body });
    const settling = settled(receiver, worker, { timeoutMs: 200 });
    await expect(settling).rejects.toThrow(
      /after the timeout\. Still waiting: 1 of hnd_default, order\.paid without a key \(retrying, 1 attempts, due in \d+ ms: .*the bank is down\)\./,
    );
  });

  it("says that what waits is a worker's that was not handed in, started or not", async () => {
    const { receiver, worker, post } = setUp();
    await post("evt_1");
    await post("evt_2");
    await expect(settled(receiver)).rejects.toThrow(
      "Not settled. 2 events wait for a worker that has not registered for their source: hand it in, settled(receiver, worker).",
    );
    await settled(receiver, worker);
    await post("evt_3");
    await expect(settled(receiver)).rejects.toThrow(
      "Not settled. 1 event waits for a worker (hnd_default): hand it in, settled(receiver, worker).",
    );
    expect((await settled(receiver, worker)).applied).toEqual(["evt_3"]);
    expect(await settled(receiver)).toEqual({ applied: [], handled: [], published: [] });
  });

  it("says until when a consumer is paused, and turns a clock to there; one that a person has to resume is not waited for", async () => {
    const { worker, post, store } = setUp();
    const operator = createOperator({ store });
    await settled(worker);
    await operator.pause("hnd_default", { forMs: 60_000, because: "the ledger is down" });
    await post("evt_1");
    await expect(settled(worker)).rejects.toThrow(
      /Still waiting: 1 of hnd_default, .*; hnd_default is paused until \d{4}-\S+Z: the ledger is down\./,
    );
    expect((await settled(worker, { advance: true })).applied).toEqual(["evt_1"]);
    await operator.pause("hnd_default", { because: "for good" });
    await post("evt_2");
    expect((await settled(worker)).handled).toEqual([]);
  });

  it("says of what is held what it waits for, until when, and what ends it", async () => {
    const { receiver, worker, post } = setUp({}, { policy: "hold", sequence: { json: "/seq" } });
    await post("evt_1", { seq: 1 });
    await settled(receiver, worker);
    await post("evt_3", { seq: 3 });
    await post("evt_6", { seq: 6 });
    await expect(settled(receiver, worker)).rejects.toThrow(
      /Still waiting: 1 held of shop, key "1": waits for 2, until \d{4}-\S+Z; 1 held of shop, key "1": waits for 4 to 5, until \S+Z\. .*\{ advance: true \}.*operator\.release\(\)/,
    );
    const { applied } = await settled(receiver, worker, { advance: true });
    expect(applied).toEqual(["evt_3", "evt_6"]);
  });

  it("is over where only a person can go on: a dead letter that halts its lane", async () => {
    const { worker, post, store } = setUp({
      handlers: {
        "*": () => {
          throw new Error("for good");
        },
      },
      retry: { waitsMs: [] },
    });
    await post("evt_1");
    await post("evt_2");
    expect((await settled(worker)).handled).toMatchObject([{ id: "evt_1", outcome: "failed" }]);
    expect((await store.deadLetters({ limit: 10 })).items).toHaveLength(1);
  });

  it("tells what a receiver applied in its own transaction, too", async () => {
    const { store, clock } = setUp();
    const sources = { shop: standardWebhooks({ secrets: SECRET, clock }) };
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": () => undefined } });
    const body = utf8(JSON.stringify({ type: "order.paid" }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id: "evt_1", body });
    await receiver.receive("shop", { headers, body });
    await receiver.receive("shop", { headers, body });
    const { handled } = await settled(receiver);
    expect(handled.map(({ outcome }) => outcome)).toEqual(["applied", "duplicate"]);
  });

  it("refuses what it does not know, and to turn a clock that is not to be turned", async () => {
    await expect(settled(new Date() as never)).rejects.toThrow(/takes receivers, workers/);
    const worker = createWorker({
      store: memoryStore({ environment: "test" }),
      handlers: { "*": () => undefined },
    });
    await expect(settled(worker, { advance: true })).rejects.toThrow(/createFakeClock/);
  });
});
