import { describe, expect, expectTypeOf, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { batch } from "./batch.js";
import type { EventBatch } from "./batch.js";
import { typed } from "./handlers.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "../worker/worker.js";
import type { WorkerOptions } from "../worker/worker-options.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function setUp() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const calls: string[] = [];
  const sources = {
    shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), key: { json: "/order" } },
  };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources });
  const signed = (id: string, data: object = {}) => {
    const body = utf8(JSON.stringify({ type: "order.paid", order: "1", ...data }));
    return { headers: signSync(createSigner({ secrets: SECRET, clock }), { id, body }), body };
  };
  const post = async (id: string, data: object = {}): Promise<unknown> =>
    receiver.receive("shop", signed(id, data));
  const worker = (given: Partial<WorkerOptions<MemoryTx, "asynchronous">>) =>
    createWorker({ store, clock, observer: () => undefined, ...given });
  const note = (events: EventBatch<unknown>, { tx }: { readonly tx: MemoryTx }): void =>
    tx.onCommit(() => calls.push(events.map(({ id }) => id).join(" ")));
  return { clock, store, calls, sources, signed, post, worker, note };
}

function ids(count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, n) => `evt_${n + from}`);
}

describe("a batch", () => {
  it("gets the waiting events of one key in one call, in order, and no more than its most", async () => {
    const { post, worker, note, calls } = setUp();
    for (const id of ids(25)) await post(id);
    await post("evt_other", { order: "2" });
    const drained = await worker({ handlers: { "*": batch({ by: "key", max: 20 }, note) } }).drain();
    expect(drained).toEqual({ handled: 26, failed: 0, more: false });
    expect(calls.toSorted()).toEqual([ids(20).join(" "), ids(5, 21).join(" "), "evt_other"].toSorted());
  });

  it("ends before an event of another handler, which is handled by itself", async () => {
    const { post, worker, note, calls } = setUp();
    for (const id of ["evt_1", "evt_2"]) await post(id);
    await post("evt_3", { type: "order.seen" });
    await post("evt_4");
    const single = (event: { readonly id: string }, { tx }: { readonly tx: MemoryTx }): void =>
      tx.onCommit(() => calls.push(`single ${event.id}`));
    const handlers = { "order.paid": batch({ by: "key", max: 20 }, note), "order.seen": single };
    await worker({ handlers }).drain();
    expect(calls).toEqual(["evt_1 evt_2", "single evt_3", "evt_4"]);
  });

  it("that fails is rolled back, and its events are handled one by one up to the one at fault", async () => {
    const { post, worker, clock, calls } = setUp();
    for (const id of ids(4)) await post(id);
    let broken = true;
    const handlers = {
      "*": batch({ by: "key", max: 20 }, (events: EventBatch<unknown>, { tx }: { readonly tx: MemoryTx }) => {
        tx.onCommit(() => calls.push(events.map(({ id }) => id).join(" ")));
        if (broken && events.some(({ id }) => id === "evt_3")) throw new Error("the third");
      }),
    };
    const one = worker({ handlers, retry: { firstMs: 1000, jitter: 0 } });
    expect(await one.drain()).toMatchObject({ handled: 2, failed: 1 });
    expect(calls).toEqual(["evt_1", "evt_2"]);
    broken = false;
    await clock.advance(1000);
    await one.drain();
    expect(calls.join(" ")).toBe("evt_1 evt_2 evt_3 evt_4");
  });

  it("is not given an event that was applied before", async () => {
    const { clock, store, sources, signed, post, worker, note, calls } = setUp();
    const inTransaction = createReceiver({ store, clock, sources, handlers: { "*": () => undefined } });
    expect((await inTransaction.receive("shop", signed("evt_2"))).verdict).toBe("applied");
    for (const id of ids(3)) await post(id);
    await worker({ handlers: { "*": batch({ by: "key", max: 20 }, note) } }).drain();
    expect(calls).toEqual(["evt_1", "evt_3"]);
  });

  it("with an event that does not fit its schema fails for that event alone", async () => {
    const { post, worker, note, calls } = setUp();
    for (const id of ids(2)) await post(id);
    await post("evt_3", { bad: true });
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          (value as { readonly bad?: true }).bad ? { issues: [{ message: "bad" }] } : { value },
      },
    };
    const handlers = { "order.paid": batch({ by: "key", max: 20 }, note) };
    expect(await worker({ handlers, schemas: { "order.paid": schema } }).drain()).toMatchObject({
      handled: 2,
      failed: 1,
    });
    expect(calls).toEqual(["evt_1", "evt_2"]);
  });

  it("cannot be made of more than a hundred events, or of no function", () => {
    expect(() => batch({ by: "key", max: 101 }, () => undefined)).toThrow(/from 1 to 100/);
    expect(() => batch({ by: "key", max: 0 }, () => undefined)).toThrow(/max is 0/);
    expect(() => batch({ by: "key", max: 5 }, undefined)).toThrow(/type undefined/);
  });

  it("and a handler get events of the type's schema", () => {
    const { store } = setUp();
    const schemas = { "order.paid": typed<{ readonly total: number }>() };
    const worker = createWorker({
      store,
      schemas,
      handlers: {
        "order.paid": {
          by: "key",
          max: 5,
          batch: (events, { tx, logger }) => {
            expectTypeOf(events[0].data).toEqualTypeOf<{ readonly total: number }>();
            expectTypeOf(tx).toEqualTypeOf<MemoryTx>();
            logger.info("typed");
          },
        },
        "shop:order.paid": (event, { tx }) => {
          expectTypeOf(event.data).toEqualTypeOf<{ readonly total: number }>();
          expectTypeOf(tx).toEqualTypeOf<MemoryTx>();
        },
      },
    });
    // @ts-expect-error -- no schema names it
    createWorker({ store, schemas, handlers: { "order.seen": () => undefined } });
    expect(worker).toBeDefined();
  });
});
