import { describe, expect, expectTypeOf, it } from "vitest";
import { utf8 } from "../bytes.js";
import type { Signal } from "../observer.js";
import { createSigner, signSync } from "../signature/sign.js";
import { slack } from "../signature/schemes/slack.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createReceiver } from "./receiver.js";
import type { Receiver, ReceiverOptions } from "./receiver.js";
import type { PurgeLimits } from "./inbox-store.js";
import { typed, typedEvents } from "./handler/handlers.js";
import type { Schema } from "./handler/handlers.js";
import type { MemoryTx } from "../stores/memory/client/transaction.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const START = Date.parse("2026-11-15T12:00:00Z");

type Options = ReceiverOptions<MemoryTx, "asynchronous">;

function setUp(given: Partial<Options> = {}) {
  const clock = createFakeClock({ at: START });
  const store = memoryStore({ clock, environment: "test" });
  const signals: Signal[] = [];
  const effects: string[] = [];
  const receiver = createReceiver({
    store,
    clock,
    observer: (signal) => signals.push(signal),
    sources: { acme: standardWebhooks({ secrets: SECRET, clock }) },
    handlers: {
      "invoice.paid": (event, { tx }) => tx.onCommit(() => effects.push(event.id)),
    },
    ...given,
  });
  const request = (id: string, data: object = { type: "invoice.paid" }) => {
    const body = utf8(JSON.stringify(data));
    return { headers: signSync(createSigner({ secrets: SECRET, clock }), { id, body }), body };
  };
  const post = (id: string, data?: object) => receiver.receive("acme", request(id, data));
  return { clock, store, signals, effects, receiver, request, post };
}

function verdictOf(reply: Awaited<ReturnType<Receiver["receive"]>>): string | undefined {
  return reply.headers?.["posthorn-verdict"];
}

describe("a verified event", () => {
  it("is applied once, however often it comes", async () => {
    const { post, effects } = setUp();
    const replies = [await post("evt_1"), await post("evt_1"), await post("evt_1")];
    expect(replies.map(verdictOf)).toEqual(["applied", "duplicate", "duplicate"]);
    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(effects).toEqual(["evt_1"]);
  });

  it("that is being applied is answered 503 at once, and its effect happens once", async () => {
    const gate = new AbortController();
    const running = new Promise((resolve) => gate.signal.addEventListener("abort", resolve));
    const effects: string[] = [];
    const { post } = setUp({
      handlers: {
        "*": async (event, { tx }) => {
          await running;
          tx.onCommit(() => effects.push(event.id));
        },
      },
    });
    const first = post("evt_1");
    const second = await post("evt_1");
    expect(second.status).toBe(503);
    expect(second.headers?.["retry-after"]).toBe("1");
    gate.abort();
    expect(verdictOf(await first)).toBe("applied");
    expect(effects).toEqual(["evt_1"]);
  });

  it("whose handler returns a rejected promise is rolled back and answered 500", async () => {
    const { post } = setUp({ handlers: { "*": () => Promise.reject(new Error("no")) } });
    expect((await post("evt_1")).status).toBe(500);
  });

  it("whose handler fails is answered 500, leaves no effect, and is run again at its next delivery", async () => {
    const effects: string[] = [];
    let fails = true;
    const { post, store } = setUp({
      handlers: {
        "*": (event, { tx }) => {
          tx.onCommit(() => effects.push(event.id));
          if (fails) throw new Error("the ledger is closed");
        },
      },
    });
    expect((await post("evt_1")).status).toBe(500);
    expect(effects).toEqual([]);
    const key = { tenant: "default", source: "acme", id: "evt_1" };
    expect(await store.read(key)).toMatchObject({ outcome: "failed", error: "Error: the ledger is closed" });
    fails = false;
    expect(verdictOf(await post("evt_1"))).toBe("applied");
    expect(await store.read(key)).toMatchObject({ outcome: "success", attempts: 2 });
    expect(effects).toEqual(["evt_1"]);
  });

  it.each([
    ["a text", "no"],
    ["undefined", undefined],
    ["null", null],
  ])("whose handler throws %s is rolled back and answered 500", async (_, thrown) => {
    const { post } = setUp({
      handlers: {
        "*": () => {
          // oxlint-disable-next-line typescript/only-throw-error -- handlers are other people's code
          throw thrown;
        },
      },
    });
    expect((await post("evt_1")).status).toBe(500);
  });

  it("without a handler is recorded as skipped and acknowledged", async () => {
    const { post, store } = setUp();
    expect(verdictOf(await post("evt_1", { type: "nobody.cares" }))).toBe("skipped");
    expect(await store.find({ tenant: "default", source: "acme", id: "evt_1" })).toMatchObject({
      outcome: "skipped",
    });
    expect(verdictOf(await post("evt_1", { type: "nobody.cares" }))).toBe("duplicate");
  });

  it("with a known id and another body is a conflict: recorded apart, not applied, and told to stop", async () => {
    const { post, effects, store } = setUp();
    await post("evt_1");
    const reply = await post("evt_1", { type: "invoice.paid", amount: 2 });
    expect(verdictOf(reply)).toBe("conflict");
    expect(reply.headers?.["webhook-delivery"]).toBe("abort-message");
    expect(effects).toEqual(["evt_1"]);
    expect(store.refused()).toMatchObject([{ id: "evt_1", because: "conflict" }]);
  });

  it("that happened before the window began is stale: answered with success and not applied", async () => {
    const { post, effects, store } = setUp();
    const reply = await post("evt_1", { type: "invoice.paid", timestamp: "2026-10-15T12:00:00Z" });
    expect([reply.status, verdictOf(reply)]).toEqual([200, "stale"]);
    expect(effects).toEqual([]);
    expect(store.refused()).toMatchObject([{ because: "stale" }]);
  });

  it("of the same id from another source is another event", async () => {
    const clock = createFakeClock({ at: START });
    const verifier = standardWebhooks({ secrets: SECRET, clock });
    const { receiver, request } = setUp({ sources: { acme: verifier, other: verifier } });
    expect(verdictOf(await receiver.receive("acme", request("evt_1")))).toBe("applied");
    expect(verdictOf(await receiver.receive("other", request("evt_1")))).toBe("applied");
  });

  it("is known by the hash of its body where that is asked for", async () => {
    const clock = createFakeClock({ at: START });
    const { post, effects } = setUp({
      sources: {
        acme: {
          verifier: standardWebhooks({ secrets: SECRET, clock }),
          dedup: { by: "content", content: "raw" },
        },
      },
    });
    await post("evt_1");
    expect(verdictOf(await post("evt_2"))).toBe("duplicate");
    expect(effects).toEqual([expect.stringMatching(/^body_[0-9a-f]{64}$/)]);
  });

  it("is forgotten after its window, and only then", async () => {
    const { post, clock, receiver } = setUp();
    await post("evt_1");
    await clock.advance(14 * 24 * 3600 * 1000 - 1000);
    expect(await receiver.purge()).toEqual({ removed: 0, more: false });
    await clock.advance(2000);
    expect(await receiver.purge()).toEqual({ removed: 1, more: false });
  });

  it("is told to the observer with its verdict", async () => {
    const { post, signals } = setUp();
    await post("evt_1");
    await post("evt_1");
    expect(signals.filter(({ kind }) => kind === "event_received")).toMatchObject([
      { source: "acme", type: "invoice.paid", id: "evt_1", verdict: "applied" },
      { verdict: "duplicate", why: expect.stringContaining("success since 2026-11-15") },
    ]);
  });
});

describe("a handler", () => {
  it("that does not finish within its deadline is cut off: 503, and nothing of it remains", async () => {
    const effects: string[] = [];
    const seen: AbortSignal[] = [];
    const { post, clock } = setUp({
      handlers: {
        "*": (event, { tx, signal }) => {
          seen.push(signal);
          tx.onCommit(() => effects.push(event.id));
          return new Promise(() => {});
        },
      },
    });
    const reply = post("evt_1");
    while (clock.sleeping === 0 || seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(30_000);
    expect((await reply).status).toBe(503);
    expect(seen[0]?.aborted).toBe(true);
    expect(effects).toEqual([]);
  });

  it("is chosen from the most to the least particular", async () => {
    const ran: string[] = [];
    const { post } = setUp({
      handlers: {
        "acme:a": () => void ran.push("acme:a"),
        a: () => void ran.push("a"),
        b: () => void ran.push("b"),
        "acme:*": () => void ran.push("acme:*"),
        "*": () => void ran.push("*"),
      },
    });
    for (const [index, type] of ["a", "b", "c", "constructor"].entries())
      await post(`evt_${index}`, { type });
    expect(ran).toEqual(["acme:a", "b", "acme:*", "acme:*"]);
  });

  it("gets the same idempotency key on every run for an event, and another for every step", async () => {
    const keys: string[] = [];
    let runs = 0;
    const { post } = setUp({
      handlers: {
        "*": (_, context) => {
          keys.push(context.idempotencyKey("mail"), context.idempotencyKey("charge"));
          if (++runs === 1) throw new Error("once more");
        },
      },
    });
    await post("evt_1");
    await post("evt_1");
    await post("evt_2");
    expect(keys.slice(0, 2)).toEqual(keys.slice(2, 4));
    expect(new Set(keys).size).toBe(4);
  });

  it("may return a result, which is kept with the event", async () => {
    const { post, store } = setUp({ handlers: { "*": () => ({ invoice: 7 }) } });
    await post("evt_1");
    expect(await store.read({ tenant: "default", source: "acme", id: "evt_1" })).toMatchObject({
      result: '{"invoice":7}',
    });
  });

  it("publishes in its own transaction when a publisher was given, and fails clearly when none was", async () => {
    const published: unknown[] = [];
    const handlers = {
      "*": async (_: unknown, context: { publish(event: { type: string }): Promise<void> }) =>
        context.publish({ type: "x" }),
    };
    const publisher = {
      publish: (event: unknown, { tx }: { tx: MemoryTx }) => tx.onCommit(() => published.push(event)),
    };
    expect((await setUp({ handlers, publisher }).post("evt_1")).status).toBe(204);
    expect(published).toEqual([{ type: "x" }]);
    const without = setUp({ handlers });
    expect((await without.post("evt_1")).status).toBe(500);
    expect(without.signals.at(-1)).toMatchObject({ why: expect.stringContaining("publisher") });
  });

  it("gets data of the type that its schema promises", async () => {
    const seen: number[] = [];
    const clock = createFakeClock({ at: START });
    const receiver = createReceiver({
      store: memoryStore({ clock, environment: "test" }),
      clock,
      sources: { acme: standardWebhooks({ secrets: SECRET, clock }) },
      schemas: { "invoice.paid": typed<{ amount: number }>() },
      handlers: {
        "invoice.paid": (event, { tx }) => {
          expectTypeOf(event.data).toEqualTypeOf<{ amount: number }>();
          tx.onCommit(() => seen.push(event.data.amount));
        },
      },
    });
    const body = utf8('{"type":"invoice.paid","amount":3}');
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id: "evt_1", body });
    await receiver.receive("acme", { headers, body });
    expect(seen).toEqual([3]);
  });

  it("gets data as it came where the schemas only name the provider's types", async () => {
    interface Paid {
      readonly type: "invoice.paid";
      readonly amount: number;
    }
    const seen: number[] = [];
    const { receiver: _, ...world } = setUp();
    const receiver = createReceiver({
      store: world.store,
      clock: world.clock,
      sources: { acme: standardWebhooks({ secrets: SECRET, clock: world.clock }) },
      schemas: typedEvents<Paid>(),
      handlers: { "invoice.paid": ({ data }, { tx }) => tx.onCommit(() => seen.push(data.amount)) },
    });
    const request = world.request("evt_1", { type: "invoice.paid", amount: 5 });
    expect((await receiver.receive("acme", request)).verdict).toBe("applied");
    expect(seen).toEqual([5]);
  });

  it("never sees data that its schema refuses: 500, recorded as failed, and told where it is wrong", async () => {
    const amount: Schema<{ amount: number }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ issues: [{ message: "expected a number", path: ["amount"] }] }),
      },
    };
    let ran = false;
    const { post, store } = setUp({
      schemas: { "invoice.paid": amount },
      handlers: { "*": () => void (ran = true) },
    });
    expect((await post("evt_1")).status).toBe(500);
    expect(ran).toBe(false);
    expect(await store.read({ tenant: "default", source: "acme", id: "evt_1" })).toMatchObject({
      outcome: "failed",
      error: expect.stringContaining("amount: expected a number"),
    });
  });
});

describe("a request", () => {
  it("with a wrong signature is answered 401 without a reason, and leaves no row", async () => {
    const { receiver, request, store, signals } = setUp();
    const { headers, body } = request("evt_1");
    const reply = await receiver.receive("acme", {
      headers,
      body: utf8(`${new TextDecoder().decode(body)} `),
    });
    expect(reply).toEqual({ status: 401 });
    expect(await store.find({ tenant: "default", source: "acme", id: "evt_1" })).toBeUndefined();
    expect(signals).toContainEqual(
      expect.objectContaining({ kind: "signature_refused", code: "signature_mismatch" }),
    );
  });

  it("for a source that nobody configured is answered 404", async () => {
    const { receiver, request } = setUp();
    expect((await receiver.receive("constructor", request("evt_1"))).status).toBe(404);
  });

  it("with a body over the limit is answered 413, and a compressed one 415", async () => {
    const { receiver, request, signals } = setUp({ maxBodyBytes: 10 });
    expect((await receiver.receive("acme", request("evt_1"))).status).toBe(413);
    const { headers } = request("evt_1");
    const gzip = { headers: { ...headers, "content-encoding": "gzip" }, body: utf8("{}") };
    expect((await receiver.receive("acme", gzip)).status).toBe(415);
    expect(signals).toMatchObject([{ code: "body_too_large" }, { code: "body_compressed" }]);
  });

  it("whose body was already parsed is answered 500 and told how to mend it, so that the sender comes again", async () => {
    const { receiver, request, signals } = setUp();
    const parsed = {
      headers: request("evt_1").headers,
      body: { type: "invoice.paid" } as unknown as Uint8Array,
    };
    expect((await receiver.receive("acme", parsed)).status).toBe(500);
    expect(signals).toContainEqual(expect.objectContaining({ code: "body_not_raw" }));
  });

  it("that is a handshake is answered after verification, and only then", async () => {
    const clock = createFakeClock({ at: START });
    const { receiver } = setUp({
      sources: { slack: slack({ secrets: "8f742231b10e8888abcd99yyyzzz85a5", clock }) },
    });
    const body = utf8('{"type":"url_verification","challenge":"abc"}');
    const forged = {
      "x-slack-request-timestamp": String(START / 1000),
      "x-slack-signature": `v0=${"0".repeat(64)}`,
    };
    expect((await receiver.receive("slack", { headers: forged, body })).status).toBe(401);
  });
});

function down(): Promise<never> {
  return Promise.reject(new Error("connection refused"));
}

describe("a store that is down", () => {
  it("is answered with 503, so that the sender comes again, and told", async () => {
    const store = {
      ...memoryStore({ environment: "test" }),
      transactions: "asynchronous" as const,
      find: down,
      accept: down,
    };
    const { post, signals } = setUp({ store: store as unknown as Options["store"] });
    expect((await post("evt_1")).status).toBe(503);
    expect(signals).toContainEqual(
      expect.objectContaining({ kind: "store_failed", message: "connection refused" }),
    );
  });
});

describe("stop", () => {
  it("finishes what is under way, answers 503 from then on, and ends the purging", async () => {
    const gate = new EventTarget();
    const opened = new Promise((resolve) => gate.addEventListener("open", resolve));
    const { receiver, post, store } = setUp({ handlers: { "*": () => opened } });
    const purging = receiver.keepPurged({ everyMs: 60_000, signal: new AbortController().signal });
    const first = post("evt_1");
    let stopped = false;
    const stopping = receiver.stop().then(() => (stopped = true));
    const late = await post("evt_2");
    expect([late.status, late.headers?.["retry-after"], stopped]).toEqual([503, "5", false]);
    gate.dispatchEvent(new Event("open"));
    expect(await first).toMatchObject({ verdict: "applied", headers: { "posthorn-verdict": "applied" } });
    await Promise.all([stopping, purging]);
    expect(await store.read({ tenant: "default", source: "acme", id: "evt_2" })).toBeUndefined();
  });
});

describe("options", () => {
  it.each([
    ["handlerDeadlineMs", 0],
    ["handlerDeadlineMs", 3e9],
    ["acquireMs", Number.NaN],
    // A timer holds 2^31 ms, and ends at once where it is given more: every event would be saturated.
    ["acquireMs", 3e9],
    ["acquireMs", Infinity],
    ["maxBodyBytes", -1],
  ])("%s of %s is refused", (name, value) => {
    expect(() => setUp({ [name]: value })).toThrow(expect.objectContaining({ code: "inbox_option_invalid" }));
  });

  it.each([Number.NaN, 0, -1, 3e9])(
    "everyMs of %s is refused, instead of purging in a loop",
    async (everyMs) => {
      let purges = 0;
      const store = memoryStore();
      const counted = { ...store, purge: (limits: PurgeLimits) => (purges++, store.purge(limits)) };
      const { receiver } = setUp({ store: counted });
      const stop = new AbortController();
      const purging = receiver.keepPurged({ everyMs, signal: stop.signal });
      await expect(purging).rejects.toMatchObject({ code: "inbox_option_invalid" });
      expect(purges).toBe(0);
    },
  );
});
