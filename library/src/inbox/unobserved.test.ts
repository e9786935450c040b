import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { utf8 } from "../bytes.js";
import { stripe } from "../signature/schemes/stripe.js";
import { memoryStore } from "../stores/memory/store.js";
import { signedRequest } from "../testing/signed-request/signed-request.js";
import { again } from "./handler/again.js";
import { createReceiver } from "./receiver.js";
import type { ReceiverOptions } from "./receiver.js";
import type { MemoryTx } from "../stores/memory/client/transaction.js";
import { unobserved } from "./unobserved.js";
import { createWorker } from "./worker/worker.js";

const SECRET = "whsec_one_endpoint";
const told: string[] = [];

beforeEach(() => {
  told.length = 0;
  vi.spyOn(console, "warn").mockImplementation((text: string) => void told.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function made(given: Partial<ReceiverOptions<MemoryTx, "asynchronous">> = {}) {
  return createReceiver({
    store: memoryStore({ environment: "test" }),
    sources: { stripe: stripe({ secrets: SECRET }) },
    handlers: {
      "invoice.paid": () => {
        throw new Error("relation invoice does not exist");
      },
    },
    ...given,
  });
}

describe("a receiver without an observer", () => {
  it("tells once on stderr that no secret matches, and what to paste", async () => {
    const receiver = made();
    for (const id of ["evt_1", "evt_2"]) {
      const request = await signedRequest("stripe", { id, secrets: "whsec_of_the_stripe_cli" });
      expect((await receiver.receive("stripe", request)).status).toBe(401);
    }
    expect(told).toEqual([
      expect.stringMatching(
        /^posthorn: A request \(stripe\) was refused, signature_mismatch: [^]*Stripe CLI/,
      ),
    ]);
    expect(told.join()).not.toContain(SECRET);
  });

  it("tells once that a handler throws, and with which words", async () => {
    const receiver = made();
    const request = await signedRequest("stripe", { type: "invoice.paid", secrets: SECRET });
    await receiver.receive("stripe", request);
    await receiver.receive("stripe", request);
    expect(told).toEqual([expect.stringContaining("failed: Error: relation invoice does not exist")]);
    // And where: without it, "Cannot read properties of undefined" names no line of the host.
    expect(told[0]).toMatch(/\n\s+at .*unobserved\.test\.ts:\d+/);
  });

  it("tells each kind of refusal once, however many names and sizes senders try", async () => {
    const receiver = made();
    const { headers } = await signedRequest("stripe", { secrets: SECRET });
    for (const bytes of [1, 2, 3]) {
      await receiver.receive(`unknown_${bytes}` as "stripe", { headers, body: utf8("{}") });
      await receiver.receive("stripe", { headers, body: new Uint8Array(1_048_576 + bytes) });
    }
    expect(told).toHaveLength(2);
  });

  it("says nothing of what goes well", async () => {
    const receiver = made({ handlers: { "invoice.paid": () => 1 } });
    const request = await signedRequest("stripe", { type: "invoice.paid", secrets: SECRET });
    await receiver.receive("stripe", request);
    await receiver.receive("stripe", request);
    expect(told).toEqual([]);
  });

  it("tells once of each type that it has no handler for one, and which it has; of ten types at most", async () => {
    const receiver = made({ handlers: { "invoice.payd": () => 1, "stripe:charge.failed": () => 1 } });
    const post = async (type: string): Promise<void> => {
      await receiver.receive("stripe", await signedRequest("stripe", { type, secrets: SECRET }));
    };
    await post("customer.created");
    await post("invoice.paid");
    await post("invoice.paid");
    expect(told).toEqual([
      expect.stringContaining("no handler for customer.created"),
      expect.stringContaining(
        'skipped: no handler for invoice.paid; there is one for "invoice.payd", "stripe:charge.failed"',
      ),
    ]);
    for (let each = 0; each < 20; each++) await post(`other.${each}`);
    expect(told).toHaveLength(10);
  });

  it("says nothing in production, where stderr is an alarm", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const request = await signedRequest("stripe", { secrets: "whsec_of_the_stripe_cli" });
    await made({ store: memoryStore({ environment: "test" }) }).receive("stripe", request);
    expect(told).toEqual([]);
    expect(unobserved({ part: "receiver", handlers: [] }, "production")).toBeUndefined();
  });
});

async function posted(key: { readonly json: string }, types: readonly string[]): Promise<void> {
  const store = memoryStore({ environment: "test" });
  const sources = { stripe: { verifier: stripe({ secrets: SECRET }), key } };
  const receiver = createReceiver({ mode: "store_first", store, sources });
  for (const type of types) {
    const data = { id: "in_7" };
    await receiver.receive("stripe", await signedRequest("stripe", { type, data, secrets: SECRET }));
  }
}

describe("a receiver without an observer whose source has a key that leads nowhere", () => {
  it("tells once for each type what was not found, and where, of ten types at most", async () => {
    const key = { json: "/data/id" };
    await posted(key, ["invoice.paid", "invoice.paid", "charge.failed"]);
    expect(told).toEqual([
      expect.stringMatching(
        /^posthorn: stripe:invoice\.paid evt_\S+ has no key: neither a text nor a number stands at \{ json: "\/data\/id" \}\. It is handled in no order/,
      ),
      expect.stringContaining("stripe:charge.failed"),
    ]);
    told.length = 0;
    await posted(
      key,
      Array.from({ length: 20 }, (_, n) => `other.${n}`),
    );
    expect(told).toHaveLength(10);
  });

  it("says nothing of a key that is there, nor in production", async () => {
    await posted({ json: "/data/object/id" }, ["invoice.paid"]);
    vi.stubEnv("NODE_ENV", "production");
    await posted({ json: "/data/id" }, ["invoice.paid"]);
    expect(told).toEqual([]);
  });
});

it("a receiver with an observer tells it alone", async () => {
  const kinds: string[] = [];
  const receiver = made({ observer: ({ kind }) => kinds.push(kind) });
  await receiver.receive("stripe", await signedRequest("stripe", { secrets: "whsec_of_the_stripe_cli" }));
  expect([kinds, told]).toEqual([["signature_refused"], []]);
});

const broken = (): never => {
  throw new Error("relation invoice does not exist");
};

async function worked(handlers: Record<string, () => unknown>, types: readonly string[]): Promise<void> {
  const store = memoryStore({ environment: "test" });
  const sources = { stripe: { verifier: stripe({ secrets: SECRET }), key: { json: "/data/object/id" } } };
  const receiver = createReceiver({ mode: "store_first", store, sources });
  const worker = createWorker({ store, handlers, retry: { firstMs: 1, maxAttempts: 1 } });
  for (const type of types) {
    const data = { id: "in_7" };
    await receiver.receive(
      "stripe",
      await signedRequest("stripe", { id: "evt_given", type, data, secrets: SECRET }),
    );
  }
  await worker.drain();
}

describe("a worker without an observer", () => {
  it("tells that a handler throws, where, and that its lane has halted", async () => {
    await worked({ "invoice.paid": broken }, ["invoice.paid"]);
    expect(told).toEqual([
      expect.stringMatching(
        /failed, attempt 1: Error: relation invoice does not exist\n\s+at .*unobserved\.test\.ts:\d+[^]*of the worker/,
      ),
      expect.stringMatching(
        /hnd_default has given up stripe:invoice\.paid evt_given, exhausted; its lane: halt\. .*: createOperator\(\{ store \}\)\.redrive\("dlv_\d+_1"\)/,
      ),
    ]);
  });

  it("names the consumer, so that the failures of two are told apart, and what either skips", async () => {
    const store = memoryStore({ environment: "test" });
    const receiver = createReceiver({
      mode: "store_first",
      store,
      sources: { stripe: stripe({ secrets: SECRET }) },
    });
    const consumers = {
      billing: { handlers: { "invoice.paid": broken } },
      crm: { handlers: { "invoice.paid": broken } },
    };
    const worker = createWorker({ store, consumers });
    for (const type of ["invoice.paid", "charge.failed"])
      await receiver.receive(
        "stripe",
        await signedRequest("stripe", { id: `evt_${type}`, type, secrets: SECRET }),
      );
    await worker.drain();
    for (const consumer of ["billing", "crm"])
      expect(told).toContainEqual(
        expect.stringMatching(
          `^posthorn: hnd_${consumer}: stripe:invoice.paid evt_invoice.paid failed, attempt 1: `,
        ),
      );
    expect(told).toContainEqual(
      expect.stringMatching(/^posthorn: hnd_(billing|crm): stripe:charge\.failed .* skipped/),
    );
  });

  it("says nothing of an event that its handler wants again: that is no failure", async () => {
    await worked({ "invoice.paid": () => again({ afterMs: 1000 }) }, ["invoice.paid"]);
    expect(told).toEqual([]);
  });

  it("tells how to name a type that has a colon itself", async () => {
    await worked({ "invoice:paid": () => 1 }, ["invoice:paid"]);
    expect(told).toEqual([
      expect.stringContaining('what stands before a colon is a source: write "stripe:invoice:paid"'),
    ]);
  });

  it("tells of a type that it has no handler for", async () => {
    await worked({ "invoice.payd": () => 1 }, ["invoice.paid"]);
    expect(told).toEqual([
      expect.stringContaining('no handler for invoice.paid; there is one for "invoice.payd"'),
    ]);
  });

  it("says nothing of what goes well", async () => {
    await worked({ "invoice.paid": () => 1 }, ["invoice.paid", "invoice.paid"]);
    expect(told).toEqual([]);
  });
});
