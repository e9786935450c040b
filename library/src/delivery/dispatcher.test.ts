import { describe, expect, it, onTestFinished } from "vitest";
import { createSender } from "../outbox/sender.js";
import type { EndpointOptions } from "../outbox/endpoint-options.js";
import { generateSecret } from "../signature/keys/secret.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { verifySync } from "../signature/verify.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { Wake } from "../work/wake.js";
import { checkDispatcher } from "./dispatcher-options.js";
import { createDispatcher, DispatcherRun } from "./dispatcher.js";
import type { EgressAnswer, OutgoingRequest } from "./egress/egress.js";
import type { Outcome } from "./outcome.js";

const secret = generateSecret();
const OK: Outcome = { kind: "acknowledged", status: 200 };
const BUSY: Outcome = { kind: "refused", status: 503 };

interface Receipt {
  readonly id: string;
  readonly key: string | undefined;
  readonly sequence: string | undefined;
  readonly after: string | undefined;
  readonly attempt: string | undefined;
}

/** A memory outbox whose endpoints answer as told: by default, with success. */
function setUp(endpoint: Partial<EndpointOptions> = {}) {
  const clock = createFakeClock({ at: Date.UTC(2026, 10, 16) });
  const store = memoryStore({ clock, environment: "test" });
  const sender = createSender({ store, clock });
  const receipts: Receipt[] = [];
  const world = {
    answer: (_request: OutgoingRequest): Outcome => OK,
    detail: undefined as string | undefined,
    tookMs: 1,
  };
  const egress = {
    async post(request: OutgoingRequest): Promise<EgressAnswer> {
      const { headers } = request;
      receipts.push({
        id: headers["webhook-id"] ?? "",
        key: headers["posthorn-key"],
        sequence: headers["posthorn-sequence"],
        after: headers["posthorn-after"],
        attempt: headers["posthorn-attempt"],
      });
      const outcome = world.answer(request);
      await clock.sleep(world.tookMs);
      return { outcome, answer: undefined, durationMs: world.tookMs, detail: world.detail };
    },
    close: () => Promise.resolve(),
  };
  const settings = checkDispatcher({ store, clock });
  const begin = () => new DispatcherRun(store, egress, settings);
  const add = () =>
    sender.endpoints.create({ id: "ep_1", url: "https://example.com/", secrets: secret, ...endpoint });
  const elapse = <T>(doing: Promise<T>): Promise<T> => clock.until(doing, 50);
  return { clock, store, sender, receipts, world, begin, add, elapse };
}

/** A dispatcher under way whose endpoint answers as told; time passes for exchanges alone, and a poll is due after 250 ms. */
async function asleep() {
  const { clock, store, sender, receipts, world, begin, add } = setUp({ dead: "halt" });
  await add();
  const run = begin();
  const ended = run.untilStopped();
  // Settlements wait for turns of the event loop, which `advance` alone may not give.
  const pass = (): Promise<void> => clock.until(clock.sleep(20), 1);
  await pass();
  onTestFinished(async () => {
    run.stop();
    await clock.until(ended, 50);
  });
  return { store, sender, world, pass, sent: () => receipts.map(({ id }) => id) };
}

describe("a dispatcher", () => {
  it("delivers each key in order, signed, and other keys beside it", async () => {
    const { sender, receipts, begin, add, elapse } = setUp();
    await add();
    for (const n of [1, 2, 3]) {
      for (const key of ["a", "b"]) await sender.publish({ type: "t", id: `${key}${n}`, key, data: n });
    }
    expect(await elapse(begin().drain({}))).toEqual({ delivered: 6, failed: 0, more: false });
    for (const key of ["a", "b"]) {
      const own = receipts.filter((each) => each.key === key);
      expect(own.map(({ id }) => id)).toEqual([1, 2, 3].map((n) => `${key}${n}`));
      expect(own.map(({ after }) => after)).toEqual([undefined, own[0]?.sequence, own[1]?.sequence]);
    }
  });

  describe("that sleeps", () => {
    it("sends what is published at once", async () => {
      const { sender, pass, sent } = await asleep();
      await sender.publish({ type: "t", id: "e1", key: "a", data: 1 });
      await pass();
      expect(sent()).toEqual(["e1"]);
    });

    it("sends what is redriven at once", async () => {
      const { store, sender, world, pass, sent } = await asleep();
      world.answer = () => ({ kind: "refused", status: 413 });
      await sender.publish({ type: "t", id: "e1", key: "a", data: 1 });
      await pass();
      world.answer = () => OK;
      const [dead] = (await store.deadLetters({ limit: 1 })).items;
      await store.redrive(dead?.id ?? "");
      await pass();
      expect(sent()).toEqual(["e1", "e1"]);
    });

    it("sends what waited behind a head that is skipped at once", async () => {
      const { store, sender, world, pass, sent } = await asleep();
      world.answer = () => ({ kind: "refused", status: 413 });
      for (const id of ["e1", "e2"]) await sender.publish({ type: "t", id, key: "a", data: 1 });
      await pass();
      expect(sent()).toEqual(["e1"]);
      world.answer = () => OK;
      const [blocked] = (await store.blockedLanes({ limit: 1 })).items;
      expect(await store.skip(blocked?.id ?? 0n, blocked?.head ?? 0n)).toBe("skipped");
      await pass();
      expect(sent()).toEqual(["e1", "e2"]);
    });

    it("sends what waits for an endpoint that is resumed at once", async () => {
      const { sender, pass, sent } = await asleep();
      await sender.endpoints.pause("ep_1");
      await sender.publish({ type: "t", id: "e1", key: "a", data: 1 });
      await pass();
      expect(sent()).toEqual([]);
      await sender.endpoints.resume("ep_1");
      await pass();
      expect(sent()).toEqual(["e1"]);
    });
  });

  it("signs what every verifier of the secret accepts, with its place in its lane", async () => {
    const { sender, world, begin, add, elapse, clock } = setUp();
    await add();
    await sender.publish({ type: "order.paid", id: "e1", key: "order 7", data: { amount: 12 } });
    const seen: OutgoingRequest[] = [];
    world.answer = (request) => {
      seen.push(request);
      return OK;
    };
    await elapse(begin().drain({}));
    const [request] = seen;
    const verifier = standardWebhooks({ secrets: secret, clock });
    const verified = verifySync(verifier, {
      headers: request?.headers ?? {},
      body: request?.body ?? new Uint8Array(),
    });
    expect(verified).toBeDefined();
    expect(request?.headers).toMatchObject({ "posthorn-key": "order%207", "idempotency-key": "e1" });
  });

  it("lets nothing of a key past an event that fails, and everything else go on", async () => {
    const { sender, receipts, world, begin, add, elapse } = setUp();
    await add();
    let failures = 3;
    world.answer = ({ headers }) => (headers["webhook-id"] === "a1" && failures-- > 0 ? BUSY : OK);
    for (const id of ["a1", "a2", "b1", "b2"]) {
      await sender.publish({ type: "t", id, key: id.charAt(0), data: 1 });
    }
    const dispatching = begin();
    const run = dispatching.untilStopped();
    await elapse(until(() => receipts.some(({ id }) => id === "a2")));
    dispatching.stop();
    await elapse(run);
    expect(receipts.filter(({ id }) => id === "a1").map(({ attempt }) => attempt)).toEqual([
      "1",
      "2",
      "3",
      "4",
    ]);
    expect(receipts.findLast(({ id }) => id.startsWith("a"))?.id).toBe("a2");
    const firstRetry = receipts.findIndex(({ attempt }) => attempt === "2");
    expect(receipts.slice(0, firstRetry).map(({ id }) => id)).toEqual(
      expect.arrayContaining(["b1", "b2"]) as string[],
    );
  });

  it("halts the lane of an event that is dead, until it is redriven in its place", async () => {
    const { sender, store, receipts, world, begin, add, elapse } = setUp({ retry: { waitsMs: [] } });
    await add();
    world.answer = () => BUSY;
    for (const id of ["a1", "a2"]) await sender.publish({ type: "t", id, key: "a", data: 1 });
    await elapse(begin().drain({}));
    const blocked = await store.blockedLanes({ limit: 10 });
    expect(blocked.items).toMatchObject([{ state: "halted", depth: 2n, headEventId: "a1" }]);
    const dead = await store.deadLetters({ limit: 10 });
    expect(dead.items).toMatchObject([
      { eventId: "a1", because: "exhausted", lastStatus: 503, blocks: true },
    ]);
    world.answer = () => OK;
    expect(await store.redrive(dead.items[0]?.id ?? "")).toBe("in_place");
    await elapse(begin().drain({}));
    expect(receipts.map(({ id }) => id)).toEqual(["a1", "a1", "a2"]);
  });

  it("tells a dead letter in the guard's own words why nothing was sent", async () => {
    const { sender, store, world, begin, add, elapse } = setUp();
    await add();
    world.answer = () => ({ kind: "forbidden", reason: "scheme" });
    world.detail = "The URL is of http; allowHttp: true would allow it.";
    await sender.publish({ type: "t", id: "a1", key: "a", data: 1 });
    await elapse(begin().drain({}));
    const [dead] = (await store.deadLetters({ limit: 1 })).items;
    expect(dead).toMatchObject({ because: "forbidden", lastError: world.detail });
    const [attempt] = await store.attempts(dead?.id ?? "");
    expect(attempt).toMatchObject({
      outcome: "forbidden",
      error: world.detail,
      details: {
        url: "https://example.com/",
        fingerprint: "scheme",
        requestHeaders: { "webhook-id": "a1" },
      },
    });
  });

  it("disables an endpoint that answers 410, and keeps the delivery due", async () => {
    const { sender, receipts, world, begin, add, elapse } = setUp();
    await add();
    world.answer = () => ({ kind: "refused", status: 410 });
    await sender.publish({ type: "t", id: "a1", key: "a", data: 1 });
    await elapse(begin().drain({}));
    expect(await sender.endpoints.get("ep_1")).toMatchObject({ state: "disabled" });
    world.answer = () => OK;
    await sender.endpoints.resume("ep_1");
    expect(await elapse(begin().drain({}))).toMatchObject({ delivered: 1 });
    expect(receipts.map(({ id }) => id)).toEqual(["a1", "a1"]);
  });

  it("sends nothing that has expired, and tells the gap", async () => {
    const { clock, sender, receipts, begin, add, elapse } = setUp();
    await add();
    await sender.publish({ type: "t", id: "a1", key: "a", data: 1 });
    await elapse(begin().drain({}));
    await sender.publish({ type: "t", id: "a2", key: "a", data: 1, expiresAt: new Date(clock.now() + 1000) });
    await sender.publish({ type: "t", id: "a3", key: "a", data: 1 });
    await clock.advance(2000);
    await elapse(begin().drain({}));
    expect(receipts.map(({ id }) => id)).toEqual(["a1", "a3"]);
    expect(receipts[1]?.after).toBe(receipts[0]?.sequence);
    expect(Number(receipts[1]?.sequence)).toBe(Number(receipts[0]?.sequence) + 2);
  });

  it("finishes what is under way when it is stopped, and sends nothing twice", async () => {
    const { clock, sender, receipts, world, begin, add, elapse } = setUp();
    await add();
    world.tookMs = 500;
    for (let n = 1; n <= 20; n++) await sender.publish({ type: "t", id: `e${n}`, key: "a", data: n });
    const dispatching = begin();
    const run = dispatching.untilStopped();
    await elapse(until(() => receipts.length > 0));
    dispatching.stop();
    await elapse(run);
    const before = receipts.length;
    expect(before).toBe(1);
    world.tookMs = 1;
    await clock.advance(10);
    await elapse(begin().drain({}));
    expect(receipts.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, n) => `e${n + 1}`));
  });

  it("tries again where the way out throws, which it promised not to do", async () => {
    const { sender, receipts, world, begin, add, elapse } = setUp({ retry: { waitsMs: [10] } });
    await add();
    world.answer = () => {
      if (receipts.length === 1) throw new Error("broken");
      return OK;
    };
    await sender.publish({ type: "t", id: "a1", key: "a", data: 1 });
    const dispatching = begin();
    const run = dispatching.untilStopped();
    await elapse(until(() => receipts.length === 2));
    dispatching.stop();
    await elapse(run);
    expect(receipts.map(({ attempt }) => attempt)).toEqual(["1", "2"]);
  });

  it("that could not start says so at every start, and can be stopped", async () => {
    const { store, clock } = setUp();
    const wake = Object.assign(new Wake(), {
      listen: () => {
        throw new Error("no listener");
      },
    });
    const dispatcher = createDispatcher({ store: { ...store, wake }, clock });
    for (let n = 0; n < 2; n++) await expect(dispatcher.start()).rejects.toThrow("no listener");
    const both = await Promise.allSettled([dispatcher.start(), dispatcher.start()]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await dispatcher.stop();
  });

  it("drains no more than it was asked for", async () => {
    const { sender, begin, add, elapse } = setUp({ order: "none" });
    await add();
    for (let n = 1; n <= 300; n++) await sender.publish({ type: "t", data: n });
    const report = await elapse(begin().drain({ maxEvents: 5 }));
    expect(report.more).toBe(true);
    expect(report.delivered).toBeLessThanOrEqual(128);
    expect((await elapse(begin().drain({}))).delivered).toBe(300 - report.delivered);
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
