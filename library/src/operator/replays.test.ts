import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.js";
import type { LongContext } from "../inbox/handler/long.js";
import { createReceiver } from "../inbox/receiver.js";
import { createWorker } from "../inbox/worker/worker.js";
import { createSigner, signSync } from "../signature/sign.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import type { MemoryTx } from "../stores/memory/client/transaction.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createOperator } from "./operator.js";
import { reconcile } from "./reconcile.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const observer = (): void => undefined;

function noTable(): boolean {
  throw new RangeError("no such table");
}

function setUp() {
  const clock = createFakeClock({ at: Date.UTC(2026, 10, 18) });
  const store = memoryStore({ clock, environment: "test" });
  const operator = createOperator({ store });
  const effects: string[] = [];
  const note = (event: { id: string }, { tx }: { tx: MemoryTx }): void =>
    tx.onCommit(() => void effects.push(event.id));
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET, clock }) } };
  const stored = createReceiver({ mode: "store_first", store, clock, sources, observer });
  const post = async (id: string, data: object = {}, receiver: Pick<typeof stored, "receive"> = stored) => {
    const body = utf8(JSON.stringify({ type: "order.paid", ...data }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    return (await receiver.receive("shop", { headers, body })).verdict;
  };
  const work = (handler: typeof note = note) =>
    createWorker({ store, clock, observer, handlers: { "order.paid": handler } }).drain();
  const row = { tenant: "default", source: "shop", id: "evt_1", consumer: "" };
  return { clock, store, operator, effects, note, sources, post, work, row };
}

describe("an operator", () => {
  it("sees which key verified an event that was stored first", async () => {
    const { operator, post } = setUp();
    await post("evt_1");
    expect((await operator.events()).items).toMatchObject([{ providerId: "evt_1", verifiedBy: "secret 1" }]);
  });

  it("finds a row by when its worker handled it: a dead letter that is redriven on the second day, on the second day", async () => {
    const { clock, store, operator, post, work, row } = setUp();
    const [monday, tuesday] = [new Date(clock.now()), new Date(clock.now() + 86_400_000)];
    await post("evt_1");
    const handlers = { "order.paid": () => Promise.reject(new Error("down")) };
    await createWorker({ store, clock, observer, handlers, retry: { waitsMs: [] } }).drain();
    await clock.advance(86_400_000);
    const [dead] = (await operator.deadLetters()).items;
    await operator.redrive(dead?.id ?? "");
    await work();
    const found = async (span: object) => (await operator.inboxRows(span)).items.map(({ id }) => id);
    expect(await found({ since: monday, until: tuesday })).toEqual([]);
    expect(await found({ since: tuesday })).toEqual(["evt_1"]);
    // A replay changes nothing of it.
    await clock.advance(86_400_000);
    expect(await operator.replay([{ ...row, round: 1 }])).toEqual(["staged"]);
    await work();
    expect(await found({ since: new Date(clock.now()) })).toEqual([]);
  });

  it("replays what was applied once more for each replay, and never for a replay that is repeated", async () => {
    const { operator, effects, post, work, row } = setUp();
    await post("evt_1");
    await work();
    expect(await operator.replay([{ ...row, round: 1 }])).toEqual(["staged"]);
    expect(await operator.replay([{ ...row, round: 1 }])).toEqual(["before"]);
    await work();
    expect(effects).toEqual(["evt_1", "evt_1"]);
    expect(await operator.inboxRowsOf("default", "shop", "evt_1")).toMatchObject([
      { outcome: "success", round: 2 },
    ]);
  });

  it("redrives what failed within its request from its row, to a worker that has its source", async () => {
    const { operator, effects, store, clock, sources, post, work, row } = setUp();
    const handlers = {
      "*": () => {
        throw new Error("down");
      },
    };
    const receiver = createReceiver({ store, clock, sources, observer, handlers });
    await post("evt_1", {}, receiver);
    expect(await operator.redriveInbox([row])).toEqual(["no_worker"]);
    await work();
    expect(await operator.redriveInbox([row])).toEqual(["staged"]);
    await work();
    expect(effects).toEqual(["evt_1"]);
    expect(await operator.redriveInbox([row])).toEqual(["applied"]);
  });

  it("redrives what failed within its request once, also where its handlers have names of their own", async () => {
    const { operator, effects, note, store, clock, sources, post, row } = setUp();
    const handlers = { "*": () => Promise.reject(new Error("down")) };
    await post("evt_1", {}, createReceiver({ store, clock, sources, observer, handlers }));
    const consumers = { billing: { handlers: { "*": note } }, crm: { handlers: { "*": note } } };
    const worker = createWorker({ store, clock, observer, consumers });
    await worker.drain();
    expect(await operator.redriveInbox([row])).toEqual(["staged"]);
    expect(await operator.redriveInbox([row])).toEqual(["before"]);
    await worker.drain();
    expect(await operator.redriveInbox([row])).toEqual(["before"]);
    expect(effects).toEqual(["evt_1", "evt_1"]);
  });

  it.each(["default", "hnd_default", ""])(
    "finds the handlers without a name as %j, and shows one name",
    async (consumer) => {
      const { operator, effects, store, post, work, row } = setUp();
      await post("evt_1");
      await work();
      const { items } = await operator.inboxRows({ consumer });
      expect(items).toMatchObject([{ id: "evt_1", consumer: "default" }]);
      expect(await operator.inboxRowsOf("default", "shop", "evt_1")).toEqual(items);
      expect(await operator.inboxFailures({ ...row, consumer })).toEqual([]);
      expect(await reconcile({ store, since: new Date(0), consumer, wasApplied: () => true })).toMatchObject({
        compared: 1,
      });
      expect(await operator.pause(consumer, { because: "a test" })).toBe("paused");
      expect(await operator.resume(consumer)).toBe("resumed");
      expect(await operator.replay([{ ...row, consumer }])).toEqual(["staged"]);
      await work();
      expect(effects).toEqual(["evt_1", "evt_1"]);
    },
  );

  it.each(["billing", "hnd_billing"])("finds a consumer with a name as %j", async (consumer) => {
    const { operator, note, store, clock, post, row } = setUp();
    await post("evt_1");
    await createWorker({
      store,
      clock,
      observer,
      consumers: { billing: { handlers: { "*": note } } },
    }).drain();
    expect((await operator.inboxRows({ consumer })).items).toMatchObject([{ consumer: "billing" }]);
    expect(await operator.pause(consumer, { because: "a test" })).toBe("paused");
    expect(await operator.replay([{ ...row, consumer }])).toEqual(["staged"]);
  });

  it("finds by its provider's id what is dead or waits, of which the inbox has no row, and how it stands", async () => {
    const { operator, store, clock, post } = setUp();
    const handlers = { "*": () => Promise.reject(new Error("down")) };
    const worker = createWorker({ store, clock, observer, handlers, retry: { maxAttempts: 1 } });
    for (const id of ["evt_1", "evt_2"]) await post(id);
    await worker.drain();
    await post("evt_3");
    expect((await operator.inboxRows()).items).toEqual([]);
    const { items, next } = await operator.events({ source: "shop", providerId: "evt_2" });
    expect(items).toMatchObject([{ providerId: "evt_2", source: "shop" }]);
    expect(items[0]).not.toHaveProperty("body");
    expect(next).toBeUndefined();
    const [stuck] = await operator.deliveriesOf("default", [items[0]?.id ?? ""]);
    expect(stuck).toMatchObject({ endpointId: "hnd_default", state: "dead" });
    expect(await operator.redrive(stuck?.id ?? "")).not.toBe("unknown");
    expect((await operator.events({ source: "other", providerId: "evt_2" })).items).toEqual([]);
    expect((await operator.events({ source: "shop", providerId: "evt_2", type: "other" })).items).toEqual([]);
    await expect(operator.events({ providerId: "evt_2" })).rejects.toThrow(
      /providerId is given without source/,
    );
  });

  it("refuses to replay what was handled within its request: nothing of it is stored for a worker", async () => {
    const { operator, store, clock, sources, post, work, row, note } = setUp();
    await work();
    await post("evt_1", {}, createReceiver({ store, clock, sources, handlers: { "*": note } }));
    expect(await operator.replay([row])).toEqual(["not_stored"]);
  });

  it("redrives a conflict as a new event that is linked to the first, once", async () => {
    const { operator, effects, post, work } = setUp();
    await post("evt_1");
    await work();
    expect(await post("evt_1", { amount: 2 })).toBe("conflict");
    const [conflict] = (await operator.refusedEvents({ because: "conflict" })).items;
    if (conflict === undefined) throw new Error("There is no conflict.");
    const redriven = await operator.redriveRefused(conflict);
    expect(redriven.kind).toBe("staged");
    await work();
    expect(effects).toEqual(["evt_1", expect.stringMatching(/^evt_1~[0-9a-f]{12}$/)]);
    expect((await operator.redriveRefused(conflict)).kind).toBe("before");
    const id = "eventId" in redriven ? redriven.eventId : "";
    const [first] = await operator.inboxRowsOf("default", "shop", "evt_1");
    expect((await operator.event("default", id))?.causedBy).toBe(first?.storedAs);
  });

  it.each(["a conflict", "what failed within its request"])(
    "redrives %s behind the events of its key that wait",
    async (what) => {
      const { operator, effects, store, clock, sources, post, work, row } = setUp();
      const keyed = { shop: { ...sources.shop, key: { json: "/order" } } };
      const storing = createReceiver({ mode: "store_first", store, clock, sources: keyed, observer });
      const handlers = { "*": () => Promise.reject(new Error("down")) };
      const failing = createReceiver({ store, clock, sources: keyed, observer, handlers });
      await work();
      if (what === "a conflict") {
        await post("evt_1", { order: "a" }, storing);
        await work();
        await post("evt_1", { order: "a", amount: 2 }, storing);
      } else await post("evt_1", { order: "a" }, failing);
      effects.length = 0;
      await post("evt_2", { order: "a" }, storing);
      const [refused] = (await operator.refusedEvents()).items;
      if (refused === undefined) await operator.redriveInbox([row]);
      else await operator.redriveRefused(refused);
      const { items } = await operator.lanes();
      expect(items.map(({ key, depth }) => [key, depth])).toEqual([["a", "2"]]);
      await work();
      expect(effects).toEqual(["evt_2", expect.stringMatching(/^evt_1/)]);
    },
  );

  it("forgets an event, which is applied again when it is sent again", async () => {
    const { operator, effects, post, work } = setUp();
    await post("evt_1");
    await work();
    expect(await operator.forget("default", "shop", "evt_1")).toEqual({
      kind: "forgotten",
      rows: 1,
      names: 1,
    });
    expect(await post("evt_1")).toBe("stored");
    await work();
    expect(effects).toEqual(["evt_1", "evt_1"]);
  });

  it("forgets no event whose first handler runs within its request: it would be a duplicate when it is sent again", async () => {
    const { clock, store, operator, sources, post } = setUp();
    let asked: Promise<unknown> | undefined;
    const handler = async (): Promise<void> => {
      asked = operator.forget("default", "shop", "evt_1");
      await asked;
    };
    const inRequest = createReceiver({ store, clock, sources, handlers: { "*": handler } });
    expect(await post("evt_1", {}, inRequest)).toBe("applied");
    expect(await asked).toEqual({ kind: "busy" });
    // Another whose id begins as that of the one that runs.
    expect(await operator.forget("default", "shop", "evt_")).toEqual({ kind: "unknown" });
  });

  it("forgets no event whose long handler is at work, and its steps with one that it forgets: they have the same keys again", async () => {
    const { clock, store, operator, post } = setUp();
    const log: string[] = [];
    const long = async (_: unknown, { once }: LongContext): Promise<void> => {
      log.push((await operator.forget("default", "shop", "evt_1")).kind);
      await once("charge", { act: (key) => void log.push(key) });
    };
    const worker = createWorker({ store, clock, observer, handlers: { "order.paid": { long } } });
    await post("evt_1");
    await worker.drain();
    expect((await operator.forget("default", "shop", "evt_1")).kind).toBe("forgotten");
    expect(await post("evt_1")).toBe("stored");
    await worker.drain();
    expect(log).toEqual(["busy", log[1], "busy", log[1]]);
  });
});

describe("an operator refuses", () => {
  it.each([
    [undefined, /replay is given undefined; expected a list of rows/],
    [{ source: "shop" }, /replay is given an object; expected a list of rows/],
    [["evt_1"], /row 1 is "evt_1"; expected \{ tenant, source, id, consumer \}/],
    [[{ tenant: "default", source: "shop", id: "evt_1" }], /row 1 has no consumer/],
  ])("to replay what names no row: %o", async (rows, message) => {
    const { operator } = setUp();
    await expect(operator.replay(rows as never)).rejects.toThrow(message);
  });

  it.each([
    [{ outcome: "applied" }, /outcome is "applied"; expected success, skipped, dropped, failed or pending/],
    [{ since: "2026-11-18" }, /since is of type string; expected a valid Date/],
    [{ until: new Date("tomorrow") }, /until is an invalid Date; expected a valid Date/],
  ])("to list rows by a filter that would find nothing: %o", async (filter, message) => {
    const { operator } = setUp();
    await expect(operator.inboxRows(filter as never)).rejects.toThrow(message);
  });
});

describe("reconcile", () => {
  it.each([
    [{ since: undefined }, /since is missing; expected a Date/],
    [{ since: "2026-11-18" }, /since is of type string; expected a valid Date/],
    [{ wasApplied: undefined }, /wasApplied is undefined; expected a function/],
    [{ missing: "repaly" }, /missing is "repaly"; expected "report" or "replay"/],
    [{ extra: true }, /extra is true; expected "report" or "mark"/],
    [{ limit: 0 }, /limit is 0; expected a whole number from 1 to 1000/],
    // Nothing returned would read as no difference, and a row that was found as one.
    [
      { wasApplied: () => undefined },
      /wasApplied returned undefined for shop\/evt_1; expected true or false/,
    ],
    [
      { wasApplied: () => ({ id: 1 }) },
      /wasApplied returned an object for shop\/evt_1; expected true or false/,
    ],
  ])("changes nothing where it is asked what it cannot do: %o", async (wrong, message) => {
    const { store, operator, post, work } = setUp();
    await post("evt_1");
    await work();
    const asked = { store, since: new Date(0), wasApplied: () => false, ...wrong };
    await expect(reconcile(asked as never)).rejects.toThrow(message);
    expect((await operator.inboxRows()).items).toMatchObject([{ outcome: "success", round: 1 }]);
  });

  it("knows the handlers without a name as `default`, as signals and `settled` call them", async () => {
    const { store, post, work } = setUp();
    await post("evt_1");
    await work();
    const asked = { store, since: new Date(0), consumer: "default", wasApplied: () => true };
    expect(await reconcile(asked)).toMatchObject({ compared: 1, differences: [] });
  });

  it("says what is missing and what is extra, page by page, and changes nothing unless it is told to", async () => {
    const { store, operator, effects, post, work } = setUp();
    for (const id of ["evt_1", "evt_2", "evt_3"]) await post(id);
    await work();
    await operator.replay([{ tenant: "default", source: "shop", id: "evt_3", consumer: "" }]);
    // evt_1 is lost from the host's table; evt_3 is in it, though it is to be handled once more.
    const table = new Set(["evt_2", "evt_3"]);
    const found: string[] = [];
    const options = {
      store,
      since: new Date(0),
      wasApplied: ({ id }: { id: string }) => table.has(id),
      limit: 2,
    };
    for (let after: string | undefined; ;) {
      const { differences, next } = await reconcile({ ...options, after });
      found.push(...differences.map(({ kind, event, done }) => `${kind} ${event.id} ${done}`));
      after = next;
      if (after === undefined) break;
    }
    expect(found).toEqual(["missing evt_1 undefined", "extra evt_3 undefined"]);
    const mended = await reconcile({ ...options, limit: 100, missing: "replay", extra: "mark" });
    expect(mended.differences.map(({ done }) => done)).toEqual(["staged", "marked"]);
    effects.length = 0;
    await work();
    expect(effects).toEqual(["evt_1"]);
  });

  it("rolls back what its look has done, and throws what it throws", async () => {
    const { store, post, work, effects } = setUp();
    await post("evt_1");
    await work();
    const looks = (tx: MemoryTx): boolean => (tx.onCommit(() => void effects.push("written")), true);
    await reconcile({ store, since: new Date(0), wasApplied: (_, tx) => looks(tx) });
    expect(effects).toEqual(["evt_1"]);
    await expect(reconcile({ store, since: new Date(0), wasApplied: noTable })).rejects.toThrow(
      "no such table",
    );
  });
});
