import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { createOperator } from "../../operator/operator.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import type { AsynchronousHandler } from "./handlers.js";
import { versionOf } from "./newest.js";
import type { DropStale } from "./newest.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "../worker/worker.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SCOPE = { consumer: "", tenant: "default", source: "shop", eventId: "evt_1" };

interface Order {
  readonly order: string;
  readonly version?: number;
}

const DROP: DropStale = {
  policy: "drop_stale",
  resource: ({ data }: { data: Order }) => data.order,
  version: ({ data }: { data: Order }) => (data.version === undefined ? undefined : BigInt(data.version)),
};

function setUp() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const sources = { shop: standardWebhooks({ secrets: SECRET, clock }) };
  const effects: string[] = [];
  const note = ({ id }: { id: string }, { tx }: { tx: MemoryTx }): void =>
    tx.onCommit(() => effects.push(id));
  const request = (id: string, order: object) => {
    const body = utf8(JSON.stringify({ type: "order.changed", ...order }));
    return { headers: signSync(createSigner({ secrets: SECRET, clock }), { id, body }), body };
  };
  const rowOf = (id: string) => store.read({ tenant: "default", source: "shop", id });
  return { clock, store, sources, effects, note, request, rowOf };
}

describe("order drop_stale", () => {
  it("drops what is not newer in the request, tells and records it, and its redelivery is a duplicate", async () => {
    const { clock, store, sources, effects, note, request, rowOf } = setUp();
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": note }, order: DROP });
    const post = async (id: string, order: object): Promise<string> => {
      const { status, verdict } = await receiver.receive("shop", request(id, order));
      return `${status} ${verdict}`;
    };
    expect(await post("e5", { order: "1", version: 5 })).toBe("204 applied");
    expect(await post("e4", { order: "1", version: 4 })).toBe("204 dropped");
    expect(await post("e5_again", { order: "1", version: 5 })).toBe("204 dropped");
    expect(await post("other", { order: "2", version: 1 })).toBe("204 applied");
    expect(await post("none", { order: "1" })).toBe("204 applied");
    expect(await post("e4", { order: "1", version: 4 })).toBe("204 duplicate");
    expect(effects).toEqual(["e5", "other", "none"]);
    expect(await rowOf("e4")).toMatchObject({
      outcome: "dropped",
      error: "not newer than what is known of 1",
    });
  });

  it("drops in a worker as in the request, by what either has handled", async () => {
    const { clock, store, sources, effects, note, request, rowOf } = setUp();
    const direct = createReceiver({ store, clock, sources, handlers: { "*": note }, order: DROP });
    const storing = createReceiver({ mode: "store_first", store, clock, sources });
    const worker = createWorker({ store, clock, handlers: { "*": note }, order: DROP });
    await direct.receive("shop", request("e2", { order: "1", version: 2 }));
    for (const version of [1, 2, 3])
      await storing.receive("shop", request(`s${version}`, { order: "1", version }));
    expect(await worker.drain()).toMatchObject({ handled: 3, failed: 0 });
    expect(effects).toEqual(["e2", "s3"]);
    expect([(await rowOf("s1"))?.outcome, (await rowOf("s3"))?.outcome]).toEqual(["dropped", "success"]);
    const crm = createWorker({ store, clock, consumers: { crm: { handlers: { "*": note }, order: DROP } } });
    await crm.drain();
    await storing.receive("shop", request("s0", { order: "1", version: 0 }));
    await crm.drain();
    expect(effects).toEqual(["e2", "s3", "s0"]);
  });

  it("handles a replay of the newest event of a resource again, and drops the replay of an older one", async () => {
    const { clock, store, sources, effects, note, request, rowOf } = setUp();
    const storing = createReceiver({ mode: "store_first", store, clock, sources });
    const worker = createWorker({ store, clock, handlers: { "*": note }, order: DROP });
    for (const version of [1, 2])
      await storing.receive("shop", request(`e${version}`, { order: "1", version }));
    await worker.drain();
    const replayed = ["e1", "e2"].map((id) => ({
      tenant: "default",
      source: "shop",
      id,
      consumer: "",
      round: 1,
    }));
    expect(await createOperator({ store }).replay(replayed)).toEqual(["staged", "staged"]);
    await worker.drain();
    expect(effects).toEqual(["e1", "e2", "e2"]);
    expect([(await rowOf("e1"))?.outcome, (await rowOf("e2"))?.outcome]).toEqual(["dropped", "success"]);
  });

  it("handles the newest event again that was forgotten, and that its provider sends once more", async () => {
    const { clock, store, sources, effects, note, request } = setUp();
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": note }, order: DROP });
    const post = async (version: number) =>
      (await receiver.receive("shop", request(`e${version}`, { order: "1", version }))).verdict;
    expect([await post(1), await post(2)]).toEqual(["applied", "applied"]);
    for (const id of ["e1", "e2"])
      expect(await createOperator({ store }).forget("default", "shop", id)).toMatchObject({
        kind: "forgotten",
      });
    expect([await post(1), await post(2), await post(2)]).toEqual(["dropped", "applied", "duplicate"]);
    expect(effects).toEqual(["e1", "e2", "e2"]);
  });

  it("is refused where it cannot work", () => {
    const { clock, store, sources, note } = setUp();
    const receiver = (order: object, given: object = store) =>
      createReceiver({
        store: given as typeof store,
        clock,
        sources,
        handlers: { "*": note },
        order: order as DropStale,
      });
    expect(() => receiver({ policy: "hold" })).toThrow(/expected "drop_stale"/);
    for (const text of ["drop_stale", "key", null])
      expect(() => receiver(text as never)).toThrow(/expected \{ policy: "drop_stale", resource, version \}/);
    expect(() => receiver({ policy: "drop_stale", resource: "/id" })).toThrow(/functions of the event/);
    const without = Object.entries(store).filter(([name]) => name !== "newest");
    expect(() => receiver(DROP, Object.fromEntries(without))).toThrow(/no `newest`/);
  });

  it("that throws is the event's failure", async () => {
    const { clock, store, sources, note, request, rowOf } = setUp();
    const order = { ...DROP, version: () => BigInt("x") };
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": note }, order });
    expect(await receiver.receive("shop", request("e1", { order: "1" }))).toMatchObject({ status: 500 });
    expect((await rowOf("e1"))?.error).toMatch(/SyntaxError/);
  });
});

const ofTwoResources: AsynchronousHandler<MemoryTx, Order> = async ({ data }, { newest }) => [
  await newest("a", BigInt(data.version ?? 0)),
  await newest("b", 1n),
];

const ofTwoKinds: AsynchronousHandler<MemoryTx, Order> = async ({ data }, { newest }) =>
  newest("a", data.version === 1 ? 1n : new Date(2));

const inOppositeOrders: AsynchronousHandler<MemoryTx, Order> = async ({ data }, { newest }) => {
  const names = data.order === "1" ? ["a", "b"] : ["b", "a"];
  for (const name of names) {
    await newest(name, 1n);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

describe("newest", () => {
  it("is true again for a replay of the event that brought the version", async () => {
    const { clock, store, sources, effects, request, rowOf } = setUp();
    const handler: AsynchronousHandler<MemoryTx, Order> = async ({ id, data }, { tx, newest }) => {
      if (await newest(data.order, BigInt(data.version ?? 0))) tx.onCommit(() => effects.push(id));
    };
    const storing = createReceiver({ mode: "store_first", store, clock, sources });
    const worker = createWorker({ store, clock, handlers: { "*": handler } });
    await storing.receive("shop", request("e1", { order: "1", version: 1 }));
    await worker.drain();
    await createOperator({ store }).replay([{ tenant: "default", source: "shop", id: "e1", consumer: "" }]);
    await worker.drain();
    expect(effects).toEqual(["e1", "e1"]);
    expect((await rowOf("e1"))?.outcome).toBe("success");
  });

  it("is forgotten with what a handler that throws has written, and says so in two transactions at once", async () => {
    const { clock, store, sources, effects, request } = setUp();
    let throws = true;
    const handler: AsynchronousHandler<MemoryTx, Order> = async ({ id, data }, { tx, newest }) => {
      const isNewest = await newest(`order ${data.order}`, new Date(data.version ?? 0));
      if (throws) throw new Error("after it asked");
      if (isNewest) tx.onCommit(() => effects.push(id));
    };
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": handler } });
    const post = async (id: string) =>
      (await receiver.receive("shop", request(id, { order: "1", version: 1 }))).verdict;
    expect(await post("e1")).toBe("failed");
    throws = false;
    expect((await Promise.all([post("e2"), post("e3"), post("e4")])).toSorted()).toEqual([
      "applied",
      "dropped",
      "dropped",
    ]);
    expect(effects).toHaveLength(1);
  });

  it("lets an event count as handled that is the newest of one of its resources", async () => {
    const { clock, store, sources, request, rowOf } = setUp();
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": ofTwoResources } });
    for (const version of [1, 2])
      await receiver.receive("shop", request(`e${version}`, { order: "1", version }));
    expect(await rowOf("e2")).toMatchObject({ outcome: "success", result: "[true,false]" });
  });

  it("refuses to compare a number with a time, and what is neither", async () => {
    const { clock, store, sources, request, rowOf } = setUp();
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": ofTwoKinds } });
    for (const version of [1, 2])
      await receiver.receive("shop", request(`e${version}`, { order: "1", version }));
    expect((await rowOf("e2"))?.error).toMatch(/a Date for a, and knows a bigint/);
    for (const [resource, version] of [
      ["", 1n],
      ["x".repeat(256), 1n],
      ["a\0b", 1n],
      ["a", 1],
      ["a", new Date(NaN)],
      ["a", 2n ** 63n],
    ] as const) {
      expect(() => versionOf(SCOPE, resource, version as bigint)).toThrow(/newest cannot compare/);
    }
  });

  it("ends one of two handlers that ask for the same resources in opposite orders", async () => {
    const { clock, store, sources, request } = setUp();
    const receiver = createReceiver({ store, clock, sources, handlers: { "*": inOppositeOrders } });
    const posts = ["1", "2"].map(async (order) => receiver.receive("shop", request(`e${order}`, { order })));
    const verdicts = (await Promise.all(posts)).map(({ verdict }) => String(verdict));
    expect(verdicts.toSorted()).toEqual(["applied", "failed"]);
  });
});
