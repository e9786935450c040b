import { createReceiver } from "posthorn";
import type { Handlers, ReceiverTypes, Reply, Schema } from "posthorn";
import { memoryStore } from "posthorn/memory";
import type { MemoryTx } from "posthorn/memory";
import { hmac, stripe } from "posthorn/providers";
import { createFakeClock, signedRequest, TEST_SECRETS } from "posthorn/testing";
import type { SignedRequestOptions } from "posthorn/testing";
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";

// What a receiver must not do with odd events, odd handlers and old failures.

const SECRET = "a secret of another sender, long enough";
const DAY_MS = 86_400_000;

type TestHandlers = Handlers<
  MemoryTx,
  "asynchronous",
  ReceiverTypes & { readonly publisher: undefined },
  string
>;

function verdict({ status, headers }: Reply): string {
  return `${status} ${headers?.["posthorn-verdict"]}`;
}

function setStage(handlers: TestHandlers, schemas: Record<string, Schema> = {}) {
  const clock = createFakeClock({ at: Date.parse("2026-11-01T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const receiverOf = (its: TestHandlers) =>
    createReceiver({
      store,
      clock,
      observer: () => {},
      sources: {
        stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying, clock }),
        shop: hmac({
          name: "shop",
          retryHorizonS: 86_400,
          secrets: SECRET,
          header: "x-signature",
          encoding: "hex",
          content: "{body}",
          id: { json: "/id" },
          type: { json: "/type" },
        }),
      },
      handlers: its,
      schemas,
    });
  let receiver = receiverOf(handlers);
  return {
    clock,
    store,
    /** The same host with other handlers, as after a deploy. */
    restart: (its: TestHandlers) => void (receiver = receiverOf(its)),
    fromStripe: async (options: SignedRequestOptions = {}) =>
      verdict(await receiver.receive("stripe", await signedRequest("stripe", { clock, ...options }))),
    fromShop: async (event: object) => {
      const body = new TextEncoder().encode(JSON.stringify(event));
      const headers = { "x-signature": createHmac("sha256", SECRET).update(body).digest("hex") };
      return verdict(await receiver.receive("shop", { headers, body }));
    },
  };
}

describe("a handler fenced to one source", () => {
  it.each(["stripe:invoice.paid", "stripe:*", "*"])(
    "is not reached by an event of another that is called %s",
    async (type) => {
      const ran: string[] = [];
      const { fromShop } = setStage({
        "stripe:invoice.paid": () => void ran.push("stripe:invoice.paid"),
        "stripe:*": () => void ran.push("stripe:*"),
      });
      expect(await fromShop({ id: "e1", type })).toMatch(/skipped$/);
      expect(ran).toEqual([]);
    },
  );

  it("is reached by its own events, also where their type has a colon; a key of no source is refused", async () => {
    const ran: string[] = [];
    const { fromStripe, fromShop } = setStage({
      "stripe:invoice.paid": () => void ran.push("fenced"),
      "shop:cart:closed": () => void ran.push("type with a colon"),
    });
    await fromStripe({ type: "invoice.paid" });
    await fromShop({ id: "e1", type: "cart:closed" });
    expect(ran).toEqual(["fenced", "type with a colon"]);
    expect(() => setStage({ "cart:closed": () => undefined })).toThrow(/write "stripe:cart:closed"/);
  });
});

it("an event that failed is applied when its handler is mended, also after its window", async () => {
  let broken = true;
  const { clock, fromStripe } = setStage({
    "*": () => {
      if (broken) throw new Error("not yet");
    },
  });
  const event = { id: "evt_old", time: new Date(clock.now()) };
  expect(await fromStripe(event)).toMatch(/failed$/);
  await clock.advance(13 * DAY_MS);
  expect(await fromStripe(event)).toMatch(/failed$/);
  await clock.advance(2 * DAY_MS);
  broken = false;
  expect(await fromStripe(event)).toMatch(/applied$/);
});

it("an event that nobody handled is applied when its handler is there, once, and is a duplicate before and after", async () => {
  const ran: string[] = [];
  const handlers: TestHandlers = { "invoice.payd": () => void ran.push("typo") };
  const { clock, store, fromStripe, restart } = setStage(handlers);
  const event = { id: "evt_typo", type: "invoice.paid", time: new Date(clock.now()) };
  expect(await fromStripe(event)).toMatch(/skipped$/);
  expect(await fromStripe(event)).toMatch(/duplicate$/);
  let broken = true;
  restart({
    "invoice.paid": () => {
      if (broken) throw new Error("not yet");
      ran.push("mended");
    },
  });
  // Its failures are kept like those of any event: also past its window it is not stale.
  expect(await fromStripe(event)).toMatch(/failed$/);
  await clock.advance(15 * DAY_MS);
  expect(await store.purge({ maxRows: 10, deadlineMs: 1000 })).toEqual({ removed: 0, more: false });
  broken = false;
  expect(await fromStripe(event)).toMatch(/applied$/);
  expect(await fromStripe(event)).toMatch(/duplicate$/);
  expect(ran).toEqual(["mended"]);
});

describe("what a handler throws", () => {
  it.each([
    ["an object without a prototype", Object.create(null) as unknown],
    [
      "an object that cannot be shown",
      {
        toString: () => {
          throw new Error("no text");
        },
      },
    ],
    ["undefined", undefined],
  ])("is a recorded failure: %s", async (_what, thrown) => {
    const { store, fromShop } = setStage({
      paid: () => {
        throw thrown;
      },
    });
    expect(await fromShop({ id: "e1", type: "paid" })).toMatch(/^5\d\d failed$/);
    const row = await store.read({ tenant: "default", source: "shop", id: "e1" });
    expect(row).toMatchObject({ outcome: "failed", attempts: 1 });
  });

  it("a schema that throws is a recorded failure too", async () => {
    const schema: Schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => {
          throw new Error("cannot check");
        },
      },
    };
    const { store, fromShop } = setStage({ paid: () => undefined }, { paid: schema });
    expect(await fromShop({ id: "e1", type: "paid" })).toMatch(/failed$/);
    const row = await store.read({ tenant: "default", source: "shop", id: "e1" });
    expect(row?.error).toBe("Error: cannot check");
  });
});

it("a conflict starts the known event's window again, so that the other body is never applied", async () => {
  const applied: unknown[] = [];
  const { clock, store, fromShop } = setStage({ paid: (event) => void applied.push(event.data) });
  await fromShop({ id: "e1", type: "paid", amount: 1 });
  for (let day = 0; day < 3; day++) {
    await clock.advance(10 * DAY_MS);
    await store.purge({ maxRows: 10, deadlineMs: 1000 });
    expect(await fromShop({ id: "e1", type: "paid", amount: 2 })).toMatch(/conflict$/);
  }
  expect(applied).toEqual([{ id: "e1", type: "paid", amount: 1 }]);
});

it("a handler that is undefined is refused at construction", () => {
  expect(() => setStage({ paid: undefined as never })).toThrow(
    expect.objectContaining({ code: "inbox_option_invalid" }),
  );
});
