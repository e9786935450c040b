import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { LanePosition } from "../../event.js";
import type { Signal } from "../../observer.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import { stripe } from "../../signature/schemes/stripe.js";
import { createSigner, signSync } from "../../signature/sign.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { settled } from "../../testing/settled.js";
import type { ReceivedEvent } from "../handler/handlers.js";
import { createReceiver } from "../receiver.js";
import type { OrderOptions, SourceOptions } from "../source.js";
import type { Verdict } from "../verdict.js";
import { createWorker } from "../worker/worker.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function setUp(order: OrderOptions, key?: SourceOptions["key"], more: Partial<SourceOptions> = {}) {
  const clock = createFakeClock();
  const handled: string[] = [];
  const signals: Signal[] = [];
  const store = memoryStore({ clock, environment: "test", observer: (signal) => signals.push(signal) });
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const sources = { shop: { ...more, verifier, order, ...(key && { key }) } };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources, observer: () => undefined });
  const worker = createWorker({
    store,
    clock,
    handlers: {
      "*": (event: ReceivedEvent, { tx }: { tx: MemoryTx }) => {
        const { late, gap } = event.order ?? {};
        const what = gap ? ` after ${gap.from}..${gap.to} were given up by ${gap.because}` : "";
        const stamped = event.stamp?.lane ? ` (${event.stamp.lane.sequence})` : "";
        tx.onCommit(() => handled.push(`${event.id}${stamped}${late === true ? " late" : ""}${what}`));
      },
    },
  });
  const send = async (id: string, data: object, lane?: LanePosition): Promise<Verdict | undefined> => {
    const body = utf8(exactJson({ type: "order.paid", ...data }));
    const signable = lane ? { id, body, stamp: { lane, attempt: 1, replay: false } } : { id, body };
    const headers = signSync(createSigner({ secrets: SECRET, clock }), signable);
    return (await receiver.receive("shop", { headers, body })).verdict;
  };
  const post = async (...given: Parameters<typeof send>): Promise<void> =>
    expect(await send(...given)).toBe("stored");
  return { clock, handled, signals, worker, send, post };
}

/** JSON with whole numbers of any size, which `JSON.stringify` refuses to write. */
function exactJson(value: object): string {
  const marked = JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `#${each}#` : each));
  return marked.replaceAll(/"#(\d+)#"/g, "$1");
}

const at = (sequence: bigint, after: bigint | undefined = sequence - 1n): LanePosition => ({
  generation: 1n,
  key: "order 7",
  sequence,
  after,
});

describe("a signed sequence of a Posthorn sender", () => {
  it("is followed, by the sender's key, and its stamp reaches the handler", async () => {
    const { worker, post, handled } = setUp({ policy: "hold" });
    await post("a", {}, at(1n));
    await post("c", {}, at(3n));
    await post("other", {}, { ...at(9n), key: "order 8" });
    await post("b", {}, at(2n));
    await settled(worker);
    expect(handled).toContain("other (9)");
    expect(handled.filter((text) => text !== "other (9)")).toEqual(["a (1)", "b (2)", "c (3)"]);
  });

  it("is waited for no longer than it may be: what was given up is told to handler and observer", async () => {
    const { worker, post, handled, signals, clock } = setUp({ policy: "hold", maxMs: 30_000 });
    await post("a", {}, at(6n));
    await post("c", {}, at(9n));
    const from = clock.now();
    await settled(worker, { advance: true });
    expect(clock.now() - from).toBe(30_000);
    expect(handled).toEqual(["a (6)", "c (9) after 7..8 were given up by time"]);
    expect(signals).toContainEqual(
      expect.objectContaining({ kind: "gap_given_up", key: "order 7", from: "7", to: "8", because: "time" }),
    );
    await post("b", {}, at(7n));
    await settled(worker);
    expect(handled.at(-1)).toBe("b (7) late");
    expect(signals).toContainEqual(expect.objectContaining({ kind: "event_late", sequence: "7" }));
  });

  it("has gaps that its sender has skipped, and those are not waited for", async () => {
    const { worker, post, handled } = setUp({ policy: "hold" });
    await post("a", {}, at(1n));
    await post("d", {}, at(4n, 1n));
    await settled(worker);
    expect(handled).toEqual(["a (1)", "d (4)"]);
  });
});

describe("the first events of a key", () => {
  it("come in any order: the lowest that is seen first starts the key, and what was before it is late", async () => {
    const { worker, post, handled } = setUp({ policy: "hold" });
    await post("b", {}, at(2n));
    await post("a", {}, { ...at(1n), after: undefined });
    await post("c", {}, at(3n));
    await settled(worker);
    expect(handled).toEqual(["b (2)", "a (1) late", "c (3)"]);
  });

  it("are put in order where the source says which is the first, by the signed lane or by a number", async () => {
    const signed = setUp({ policy: "hold", first: "signed" });
    await signed.post("c", {}, at(3n));
    await signed.post("b", {}, at(2n));
    await signed.post("a", {}, { ...at(1n), after: undefined });
    await settled(signed.worker);
    expect(signed.handled).toEqual(["a (1)", "b (2)", "c (3)"]);
    const order = { policy: "hold", sequence: { json: "/seq" }, first: 1 } as const;
    const numbered = setUp(order, { json: "/order" });
    for (const [id, seq] of Object.entries({ c: 3, b: 2, a: 1 }))
      await numbered.post(id, { order: "1", seq });
    await numbered.post("zero", { order: "2", seq: 0 });
    await numbered.post("one", { order: "2", seq: 1 });
    await settled(numbered.worker);
    expect(numbered.handled.filter((id) => id.length === 1)).toEqual(["a", "b", "c"]);
    expect(numbered.handled.filter((id) => id.length > 1)).toEqual(["zero", "one"]);
  });

  it("of a key that began before are held once, for no longer than they may be", async () => {
    const { worker, post, handled, clock } = setUp({ policy: "hold", first: "signed", maxMs: 30_000 });
    await post("g", {}, at(7n));
    const from = clock.now();
    await settled(worker, { advance: true });
    expect(clock.now() - from).toBe(30_000);
    await post("h", {}, at(8n));
    await settled(worker);
    expect(handled).toEqual(["g (7) after 6..6 were given up by time", "h (8)"]);
  });
});

describe("an event that is answered and not stored fills its place", () => {
  it("as a duplicate and as a conflict: those behind it do not wait, and no loss is told", async () => {
    const { worker, send, post, handled, signals, clock } = setUp({ policy: "hold" });
    await post("a", {}, at(1n));
    await post("b", {}, at(2n));
    // Its answer was lost, and its sender sends it again at the end of the lane.
    expect(await send("a", {}, at(3n))).toBe("duplicate");
    expect(await send("b", { changed: true }, at(4n))).toBe("conflict");
    await post("c", {}, at(5n));
    const from = clock.now();
    await settled(worker, { advance: true });
    expect(handled).toEqual(["a (1)", "b (2)", "c (5)"]);
    expect(clock.now()).toBe(from);
    expect(signals.filter(({ kind }) => kind === "gap_given_up" || kind === "event_late")).toEqual([]);
  });

  it("also where it comes again after those behind it", async () => {
    const { worker, send, post, handled, clock } = setUp({ policy: "hold" });
    await post("a", {}, at(1n));
    await post("c", {}, at(3n));
    await worker.drain();
    expect(await send("a", {}, at(2n))).toBe("duplicate");
    const from = clock.now();
    await settled(worker, { advance: true });
    expect([handled, clock.now()]).toEqual([["a (1)", "c (3)"], from]);
  });

  it("as a stale one", async () => {
    const window = { windowS: 20 * 86_400 } as const;
    const order = { policy: "hold", sequence: { json: "/seq" } } as const;
    const { worker, send, post, handled, clock } = setUp(order, { json: "/order" }, window);
    const old = new Date(clock.now() - 30 * 86_400_000).toISOString();
    await post("a", { order: "1", seq: 1 });
    expect(await send("b", { order: "1", seq: 2, timestamp: old })).toBe("stale");
    await post("c", { order: "1", seq: 3 });
    const from = clock.now();
    await settled(worker, { advance: true });
    expect([handled, clock.now()]).toEqual([["a", "c"], from]);
  });
});

describe("an event that waits for its turn keeps its place when it comes again, and nobody passes it", () => {
  const order = { policy: "hold", sequence: { json: "/seq" } } as const;

  it("before a worker is there that takes it", async () => {
    const { worker, send, post, handled } = setUp(order, { json: "/order" });
    for (const [id, seq] of Object.entries({ a: 1, c: 3, b: 2 })) await post(id, { order: "1", seq });
    expect(await send("b", { order: "1", seq: 2 })).toBe("duplicate");
    expect(await send("b", { order: "1", seq: 2, changed: true })).toBe("conflict");
    await settled(worker);
    expect(handled).toEqual(["a", "b", "c"]);
  });

  it("also where it happened before the window by then: it is stored, and no stale one", async () => {
    const windowS = 20 * 86_400;
    const { worker, send, post, handled, clock } = setUp(order, { json: "/order" }, { windowS });
    const timestamp = new Date(clock.now() - 3_600_000).toISOString();
    for (const [id, seq] of Object.entries({ a: 1, c: 3, b: 2 }))
      await post(id, { order: "1", seq, timestamp });
    await clock.advance(windowS * 1000 - 1_800_000);
    expect(await send("b", { order: "1", seq: 2, timestamp })).toBe("duplicate");
    await settled(worker);
    expect(handled).toEqual(["a", "b", "c"]);
  });
});

describe("a sequence that a provider writes into its events", () => {
  const order = { policy: "hold", sequence: { json: "/seq" }, maxEvents: 2 } as const;

  it("is read at the receipt, as a number or as digits, and followed by key", async () => {
    const { worker, post, handled } = setUp(order, { json: "/order" });
    await post("a", { order: "1", seq: 1 });
    await post("c", { order: "1", seq: "3" });
    await post("b", { order: "1", seq: 2 });
    await settled(worker);
    expect(handled).toEqual(["a", "b", "c"]);
  });

  it("is read exactly, also above 2^53, where JavaScript would round it", async () => {
    const { worker, post, handled } = setUp(order, { json: "/order/id" });
    const first = 2n ** 53n;
    await post("a", { order: { id: first }, seq: first });
    await post("c", { order: { id: first }, seq: first + 2n });
    await post("b", { order: { id: first }, seq: first + 1n });
    await post("other", { order: { id: first + 1n }, seq: 2n ** 63n - 1n });
    await worker.drain();
    expect(handled.filter((id) => id !== "other")).toEqual(["a", "b", "c"]);
    expect(handled).toContain("other");
  });

  it("is waited for until more events are held than may be", async () => {
    const { worker, post, handled } = setUp(order, { json: "/order" });
    for (const seq of [1, 3, 5, 7]) await post(`e${seq}`, { order: "1", seq });
    await worker.drain();
    expect(handled).toEqual(["e1", "e3 after 2..2 were given up by number"]);
  });

  it("that is no whole number holds nothing: the event is handled as it comes", async () => {
    const { worker, post, handled } = setUp(order, { json: "/order" });
    for (const [id, seq] of Object.entries({ a: 1, b: "x", c: 2.5, d: -1, e: "9".repeat(40), f: undefined }))
      await post(id, { order: "1", seq });
    await post("g", { seq: 99 });
    await settled(worker);
    expect(handled.toSorted()).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  });
});

it.each([
  [{ policy: "wait" }, 'policy is "wait"'],
  [{ policy: "hold", maxEvents: 0 }, "maxEvents is 0"],
  [{ policy: "hold", maxMs: Infinity }, "maxMs is Infinity"],
  [{ policy: "hold", first: 1 }, 'first is 1, and the sequence is signed; expected "signed"'],
  [{ policy: "hold", sequence: { json: "seq" } }, "sequence is no place"],
  [{ policy: "hold", sequence: { json: "/seq" } }, "there is no `key`"],
])("an order such as %j is refused", (order, message) => {
  expect(() => setUp(order as OrderOptions)).toThrow(message);
});

it("the first of a key is a number of its sequence", () => {
  const order = { policy: "hold", sequence: { json: "/seq" } } as const;
  for (const first of ["signed", -1, 1.5, 2n ** 63n] as const)
    expect(() => setUp({ ...order, first }, { json: "/order" })).toThrow("expected the first number");
});

it("an order by a signed sequence is refused where the provider signs none", () => {
  const store = memoryStore({ environment: "test" });
  const made = (order: OrderOptions): unknown =>
    createReceiver({
      mode: "store_first",
      store,
      sources: {
        billing: { verifier: stripe({ secrets: SECRET }), key: { json: "/data/object/customer" }, order },
      },
    });
  expect(() => made({ policy: "hold" })).toThrow(
    'order of "billing": Stripe signs no sequence; add sequence: { json: "…" }, the place of a whole number that grows by 1 with ' +
      "each event of a key, or leave order out where its events have none.",
  );
  expect(() => made({ policy: "hold", sequence: { json: "/seq" } })).not.toThrow();
});

it("holding needs events that are stored first", () => {
  const clock = createFakeClock();
  const sources = {
    shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), order: { policy: "hold" } },
  } as const;
  const store = memoryStore({ clock, environment: "test" });
  expect(() => createReceiver({ store, sources, handlers: {} })).toThrow(/needs mode: "store_first"/);
});
