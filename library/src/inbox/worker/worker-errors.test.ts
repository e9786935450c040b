import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { AttemptRecord } from "../../lanes/attempt-record.js";
import type { Signal } from "../../observer.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import type { MemoryTx } from "../../stores/memory/client/transaction.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { again, MOST_AGAIN } from "../handler/again.js";
import { afterThrown, failedAttempt } from "../handler/handler-failure.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "./worker.js";
import type { WorkerHandler, WorkerOptions } from "./worker-options.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function setUp() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const signals: Signal[] = [];
  const observer = (signal: Signal): void => void signals.push(signal);
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const sources = { shop: { verifier, key: { json: "/order" } } };
  const receiver = createReceiver({ mode: "store_first", store, clock, observer, sources });
  const signer = createSigner({ secrets: SECRET, clock });
  const post = async (id: string, order = "1"): Promise<void> => {
    const body = utf8(JSON.stringify({ type: "order.paid", order }));
    await receiver.receive("shop", { headers: signSync(signer, { id, body }), body });
  };
  /** What each run of a handler came to, in order. */
  const runs: string[] = [];
  const thrown = new Map<string, unknown>();
  const handlers = {
    "*": ({ id }: { id: string }, { tx }: { tx: MemoryTx }): void => {
      runs.push(id);
      if (thrown.has(id)) throw thrown.get(id);
      tx.onCommit(() => runs.push(`${id} applied`));
    },
  };
  const drain = (given: Partial<WorkerOptions<MemoryTx, "asynchronous">> = {}) =>
    createWorker({ store, clock, observer, handlers, ...given }).drain();
  const attempts = async (): Promise<readonly AttemptRecord[]> => {
    const [lane] = (await store.blockedLanes({ limit: 10 })).items;
    return store.attempts(`dlv_${lane?.id}_${lane?.head}`);
  };
  return { clock, store, signals, post, runs, thrown, drain, attempts };
}

class Declined extends Error {}

function cannotRecord(): never {
  throw new Error("cannot be recorded");
}

describe("a rule for errors", () => {
  it("retries at once, so often as it says, and then by the consumer's policy from its first wait on", async () => {
    const { post, thrown, runs, drain, attempts, clock } = setUp();
    await post("e1");
    thrown.set("e1", new Declined("x"));
    const given = {
      errors: [{ when: { class: Declined }, do: { retryNow: 2 } }],
      retry: { waitsMs: [1000], jitter: 0 },
      dead: "halt",
    } as const;
    expect(await drain(given)).toMatchObject({ failed: 3 });
    expect(runs).toEqual(["e1", "e1", "e1"]);
    await clock.advance(999);
    expect(await drain(given)).toMatchObject({ failed: 0 });
    await clock.advance(1);
    expect(await drain(given)).toMatchObject({ failed: 1 });
    expect((await attempts()).map(({ outcome, number }) => `${number} ${outcome}`)).toEqual([
      "1 failed",
      "2 failed",
      "3 failed",
      "4 failed",
    ]);
    await clock.advance(10_000_000);
    expect(await drain(given)).toMatchObject({ failed: 0 });
  });

  it("retries later, by a policy of its own", async () => {
    const { post, thrown, drain, clock } = setUp();
    await post("e1");
    thrown.set("e1", new Error("503"));
    const errors = [
      { when: { name: "Error" }, do: { retryLater: { waitsMs: [60_000], jitter: 0 } } },
    ] as const;
    await drain({ errors });
    await clock.advance(59_999);
    expect(await drain({ errors })).toMatchObject({ failed: 0 });
    await clock.advance(1);
    expect(await drain({ errors })).toMatchObject({ failed: 1 });
  });

  it("gives an event up at once, and its dead letter says that a rule did", async () => {
    const { post, thrown, drain, store, signals } = setUp();
    await post("e1");
    thrown.set("e1", new Declined("x"));
    await drain({ errors: [{ when: { class: Declined }, do: { dead: true } }] });
    expect((await store.deadLetters({ limit: 10 })).items).toMatchObject([
      { because: "error_rule", attempts: 1 },
    ]);
    expect(signals).toContainEqual(expect.objectContaining({ kind: "delivery_dead", because: "error_rule" }));
  });

  it("skips an event: it is recorded so with the reason, and those behind it go on", async () => {
    const { post, thrown, runs, drain, store, signals } = setUp();
    await post("e1");
    await post("e2");
    thrown.set("e1", new Declined("no such shop"));
    const drained = await drain({ errors: [{ when: { class: Declined }, do: { skip: "not our shop" } }] });
    expect(drained).toEqual({ handled: 2, failed: 0, more: false });
    expect(runs).toEqual(["e1", "e2", "e2 applied"]);
    const row = await store.read({ tenant: "default", source: "shop", id: "e1" });
    expect(row).toMatchObject({ outcome: "skipped", error: "not our shop (Error: no such shop)" });
    const told = signals.flatMap((signal) => (signal.kind === "handler_log" ? [signal.message] : []));
    expect(told).toEqual(["hnd_default skipped: not our shop (Error: no such shop)"]);
  });

  it("that skips ends as a failure where the skip cannot be recorded", async () => {
    const { post, thrown, drain, attempts, store } = setUp();
    await post("e1");
    thrown.set("e1", new Declined("x"));
    const broken: typeof store = {
      ...store,
      apply: (claim, work, limits) =>
        store.apply(claim, (tx, run) => Promise.resolve(work(tx, run)).then(cannotRecord), limits),
    };
    const errors = [{ when: { test: () => true }, do: { skip: "whatever it is" } }];
    const drained = await drain({ store: broken, errors, retry: { waitsMs: [60_000] } });
    expect(drained).toEqual({ handled: 0, failed: 1, more: false });
    expect(await attempts()).toMatchObject([{ outcome: "failed", error: "Error: cannot be recorded" }]);
  });

  it("pauses the consumer: nothing of it runs meanwhile, nothing is spent, and other consumers go on", async () => {
    const { post, thrown, runs, drain, attempts, clock, store, signals } = setUp();
    await post("e1");
    await post("e2");
    thrown.set("e1", Object.assign(new Error("connect"), { code: "ECONNREFUSED" }));
    const errors = [{ when: { code: "ECONNREFUSED" }, do: { pauseMs: 60_000 } }] as const;
    const given = { errors, retry: { waitsMs: [] } };
    await drain(given);
    await post("f1", "2");
    expect(await drain(given)).toEqual({ handled: 0, failed: 0, more: false });
    expect(runs).toEqual(["e1"]);
    expect(signals).toContainEqual({
      kind: "handler_paused",
      handler: "hnd_default",
      forMs: 60_000,
      because: "Error: connect",
    });
    expect(await store.untilDue({ kind: "handler", ids: ["hnd_default"] })).toBe(60_000);
    const other: string[] = [];
    const note = ({ id }: { id: string }): void => void other.push(id);
    await drain({ handlers: undefined, consumers: { crm: { handlers: { "*": note } } } } as never);
    await post("e3");
    await drain({ handlers: undefined, consumers: { crm: { handlers: { "*": note } } } } as never);
    expect(other).toEqual(["e3"]);
    expect(await attempts()).toMatchObject([{ number: 1, outcome: "failed", error: "Error: connect" }]);
    thrown.clear();
    await clock.advance(60_000);
    expect(await drain(given)).toEqual({ handled: 4, failed: 0, more: false });
    expect(runs.filter((each) => each.startsWith("e") && each.endsWith("applied"))).toEqual([
      "e1 applied",
      "e2 applied",
      "e3 applied",
    ]);
  });

  it("that does not match leaves an error to the retry policy", async () => {
    const { post, thrown, drain, attempts, clock } = setUp();
    await post("e1");
    thrown.set("e1", new Error("x"));
    const given = {
      errors: [{ when: { class: Declined }, do: { dead: true } }],
      retry: { firstMs: 1000, jitter: 0 },
    } as const;
    await drain(given);
    await clock.advance(1000);
    await drain(given);
    expect((await attempts()).length).toBe(2);
  });

  it("is refused at construction where it cannot work", () => {
    const { drain } = setUp();
    expect(() => drain({ errors: [{ when: {}, do: { dead: true } }] })).toThrow(/errors\[0\]\.when/);
  });
});

describe("again", () => {
  it("lets the event wait at the head of its lane, without a slot and uncounted, and undoes what was written", async () => {
    const { post, thrown, runs, drain, attempts, clock, store } = setUp();
    await post("e1");
    await post("e2");
    await post("f1", "2");
    thrown.set("e1", again({ afterMs: 5000, because: "not imported yet" }));
    const given = { retry: { waitsMs: [] } };
    expect(await drain(given)).toEqual({ handled: 1, failed: 0, more: false });
    expect(runs).toEqual(["e1", "f1", "f1 applied"]);
    expect(await store.untilDue({ kind: "handler", ids: ["hnd_default"] })).toBe(5000);
    await clock.advance(5000);
    await drain(given);
    expect(await attempts()).toMatchObject([
      { number: 1, outcome: "postponed", error: "Again: not imported yet" },
      { number: 2, outcome: "postponed" },
    ]);
    expect((await store.deadLetters({ limit: 1 })).items).toEqual([]);
    thrown.clear();
    await clock.advance(5000);
    await drain(given);
    expect(runs.slice(-4)).toEqual(["e1", "e1 applied", "e2", "e2 applied"]);
  });

  it.each<[string, WorkerHandler<MemoryTx, "asynchronous">]>([
    ["a handler", () => again({ afterMs: 5000 })],
    ["a batch", { by: "key", max: 2, batch: () => Promise.resolve(again({ afterMs: 5000 })) }],
    ["a long handler", { long: () => again({ afterMs: 5000 }) as never }],
    ["the end of a long handler", { long: () => () => again({ afterMs: 5000 }) }],
  ])("that is returned in place of thrown lets the event wait, too: %s", async (_, handler) => {
    const { post, drain, attempts, signals } = setUp();
    await post("e1");
    expect(await drain({ handlers: { "*": handler } })).toEqual({ handled: 0, failed: 0, more: false });
    expect(await attempts()).toMatchObject([{ number: 1, outcome: "postponed" }]);
    expect(signals).toContainEqual(expect.objectContaining({ kind: "event_handled", outcome: "postponed" }));
  });

  it("is no matter of the rules", () => {
    const policy = {
      retry: { kind: "list", waitsMs: [], jitter: 0 },
      dead: undefined,
      rules: [{ matches: () => true, deed: { kind: "skip", because: "x" } }],
    } as const;
    const thrown = again({ afterMs: 1000 });
    const claim = { failures: 3, attempts: 4, lane: undefined };
    const postponed = afterThrown(claim, policy, { thrown, chance: 0 });
    expect(postponed).toMatchObject({ outcome: "postponed", rest: { afterMs: 1000, counts: false } });
  });

  it("counts as a failure once it was said a thousand times in a round; pauses and workers that died do not count", async () => {
    const { post, thrown, drain, attempts, clock, store } = setUp();
    await post("e1");
    thrown.set("e1", again({ afterMs: 100, because: "not yet" }));
    const worker = "wrk_1";
    /** Settles the head as if it had been tried so often. */
    const tried = async (outcome: "failed" | "postponed", count: number): Promise<void> => {
      await clock.advance(100);
      const of = { kind: "handler", ids: ["hnd_default"] } as const;
      const terms = { worker, leaseMs: 60_000, run: { maxEvents: 1, maxBytes: 1000 } };
      const { claims } = await store.claim({ ...terms, of, limit: 1, inFlight: new Map(), alone: false });
      const [claim] = claims;
      if (claim === undefined) throw new Error("There is no claim.");
      const error = new Error("connect");
      const because = { outcome, error } as const;
      const at = { startedAt: new Date(0), durationMs: 1 };
      const made = Array.from({ length: count }, (_, n) =>
        failedAttempt({ ...claim, attempts: claim.attempts + n }, because, at),
      );
      const rest = { state: "due", afterMs: 0, counts: false } as const;
      const settlement = { claim, attempts: made, acknowledged: 0, rest, next: false };
      await store.settle({ ...terms, settlements: [settlement] });
    };
    const drained = async (): Promise<string | undefined> => {
      await clock.advance(100);
      await drain({ retry: { waitsMs: [] } });
      return (await store.deadLetters({ limit: 1 })).items.length > 0
        ? "dead"
        : (await attempts()).at(-1)?.outcome;
    };
    await drain({ handlers: { "*": () => Promise.reject(again({ afterMs: 100 })) } });
    // As attempts that paused the consumer.
    await tried("failed", MOST_AGAIN + 1);
    expect(await drained()).toBe("postponed");
    await tried("postponed", MOST_AGAIN - 3);
    expect([await drained(), await drained()]).toEqual(["postponed", "dead"]);
    const [dead] = (await store.deadLetters({ limit: 1 })).items;
    expect(dead).toMatchObject({ because: "exhausted", attempts: 2 * MOST_AGAIN + 2 });
    expect((await store.attempts(dead?.id ?? "")).at(-1)?.error).toMatch(
      /asked for the event again 1000 times/,
    );
  });
});

describe("a worker that dies while a handler runs", () => {
  it("costs the event none of its retries, and its attempt is told from a failure", async () => {
    const { post, thrown, runs, drain, attempts, clock, store } = setUp();
    await post("e1");
    await drain({ handlers: { other: () => undefined, "*": () => Promise.reject(again({ afterMs: 100 })) } });
    await clock.advance(100);
    const claimed = await store.claim({
      of: { kind: "handler", ids: ["hnd_default"] },
      worker: "wrk_that_dies",
      limit: 1,
      leaseMs: 60_000,
      inFlight: new Map(),
      run: { maxEvents: 1, maxBytes: 1000 },
      alone: false,
    });
    expect(claimed.claims.length).toBe(1);
    await clock.advance(60_000);
    thrown.set("e1", new Error("x"));
    const given = { retry: { waitsMs: [0], jitter: 0 } };
    await drain(given);
    expect((await attempts()).map(({ outcome }) => outcome)).toEqual([
      "postponed",
      "lapsed",
      "failed",
      "failed",
    ]);
    expect(runs).toEqual(["e1", "e1"]);
    expect((await store.deadLetters({ limit: 1 })).items).toMatchObject([
      { because: "exhausted", attempts: 4 },
    ]);
  });
});
