import { createReceiver, createWorker } from "posthorn";
import type { Receiver, Reply, Signal, SignedRequest, SourceOptions, Verifier } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { chargebee, figma, github, mailgun, stripe, twilio, webflow, woocommerce } from "posthorn/providers";
import { createFakeClock, signedRequest, TEST_SECRETS } from "posthorn/testing";
import type { FakeClock, ProviderName, SignedRequestOptions, TestRequest } from "posthorn/testing";
import { describe, expect, it } from "vitest";

// What a provider's scheme and the inbox promise together, and neither could alone.

interface Stage {
  readonly clock: FakeClock;
  readonly signals: Signal[];
  /** What handlers saw: the event's id and its body. */
  readonly effects: (readonly [id: string, body: string])[];
  readonly receiver: Receiver;
  readonly receive: (source: string, request: SignedRequest) => Promise<Reply>;
  readonly signed: (provider: ProviderName, options?: SignedRequestOptions) => Promise<TestRequest>;
}

type Sources = (clock: FakeClock) => Readonly<Record<string, Verifier | SourceOptions>>;

function setStage(
  sources: Sources,
  limits: { readonly maxBodyBytes?: number } = {},
  fails: () => boolean = () => false,
): Stage {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const signals: Signal[] = [];
  const effects: (readonly [string, string])[] = [];
  const receiver = createReceiver({
    store: memoryStore({ clock, environment: "test" }),
    clock,
    ...limits,
    observer: (signal) => void signals.push(signal),
    sources: sources(clock),
    handlers: {
      "*": (event, { tx }) => {
        if (fails()) throw new Error("not yet");
        tx.onCommit(() => effects.push([event.id, new TextDecoder().decode(event.body)]));
      },
    },
  });
  return {
    clock,
    signals,
    effects,
    receiver,
    receive: (source, request) => receiver.receive(source, request),
    signed: (provider, options) => signedRequest(provider, { clock, ...options }),
  };
}

function verdictOf({ headers }: Reply): string | undefined {
  return headers?.["posthorn-verdict"];
}

const MIB = 1_048_576;
const GITHUB_AND_STRIPE: Sources = (clock) => ({
  github: github({ secrets: TEST_SECRETS.github.verifying, clock }),
  stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying, clock }),
});

/** A payload of this many bytes and a few more. */
function large(bytes: number): SignedRequestOptions {
  return { data: { text: "x".repeat(bytes) } };
}

describe("a body's size", () => {
  it.each([
    ["github", MIB, 200],
    ["github", 25 * MIB - 10_000, 200],
    ["github", 25 * MIB, 413],
    ["stripe", MIB - 10_000, 200],
    ["stripe", MIB, 413],
  ] as const)("of %s may be what the provider sends: %i is answered %i", async (name, bytes, status) => {
    const { receive, signed } = setStage(GITHUB_AND_STRIPE);
    expect((await receive(name, await signed(name, large(bytes)))).status).toBe(status);
  });

  it("is held to the host's own limit, where it sets one", async () => {
    const { receive, signed } = setStage(GITHUB_AND_STRIPE, { maxBodyBytes: 10_000 });
    expect((await receive("github", await signed("github"))).status).toBe(200);
    expect((await receive("github", await signed("github", large(10_000)))).status).toBe(413);
  });

  it("of a source that nobody configured is small", () => {
    expect(setStage(GITHUB_AND_STRIPE).receiver.maxBodyBytes("nobody")).toBe(MIB);
  });
});

const MAILGUN: Sources = (clock) => ({
  mailgun: mailgun({ secrets: TEST_SECRETS.mailgun.verifying, clock }),
});
const MAILGUN_BY_BODY: Sources = (clock) => ({
  mailgun: {
    verifier: mailgun({ secrets: TEST_SECRETS.mailgun.verifying, clock }),
    dedup: { by: "content", content: "raw" },
  },
});

/** Another event beside the signature of a captured request. */
function forged(request: TestRequest): TestRequest {
  const body = JSON.parse(new TextDecoder().decode(request.body)) as Record<string, object>;
  const event = { ...body["event-data"], id: "forged", event: "complained" };
  return { ...request, body: new TextEncoder().encode(JSON.stringify({ ...body, "event-data": event })) };
}

describe("Mailgun, which signs a time and a token and nothing of the event,", () => {
  it("is known by its token: another event beside the same signature is a conflict, and not applied", async () => {
    const { receive, signed, effects } = setStage(MAILGUN);
    const request = await signed("mailgun", { id: "token_1", type: "delivered" });
    const replies = [
      await receive("mailgun", request),
      await receive("mailgun", request),
      await receive("mailgun", forged(request)),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 406]);
    expect(replies.map(verdictOf)).toEqual(["applied", "duplicate", "conflict"]);
    expect(effects).toEqual([["token_1", new TextDecoder().decode(request.body)]]);
  });

  it("keeps its first body also where the handler failed: only that one may be tried again", async () => {
    const stage = setStage(MAILGUN, {}, () => stage.signals.length < 2);
    const { receive, signed, effects } = stage;
    const request = await signed("mailgun", { id: "token_1" });
    const verdicts: unknown[] = [];
    for (const each of [request, forged(request), request])
      verdicts.push(verdictOf(await receive("mailgun", each)));
    expect(verdicts).toEqual(["failed", "conflict", "applied"]);
    expect(effects).toEqual([["token_1", new TextDecoder().decode(request.body)]]);
  });

  it("cannot be told apart by its body alone, which anybody can write", () => {
    expect(() => setStage(MAILGUN_BY_BODY)).toThrow(
      expect.objectContaining({
        code: "inbox_option_invalid",
        message:
          'dedup of "mailgun" is by "content", but Mailgun signs the id and not the body: whoever has one request could ' +
          "send any body as a new event. Leave it out.",
      }),
    );
  });
});

describe("Twilio by GET", () => {
  it("two calls are two events, each applied once", async () => {
    const { receive, signed, effects } = setStage((clock) => ({
      twilio: twilio({ secrets: TEST_SECRETS.twilio.verifying, clock }),
    }));
    const verdicts: unknown[] = [];
    for (const status of ["ringing", "ringing", "completed"]) {
      const url = `https://example.com/hooks?CallSid=CA1&CallStatus=${status}`;
      const { headers, ...request } = await signed("twilio", { method: "GET", url, body: "" });
      const { "i-twilio-idempotency-token": _token, ...others } = headers;
      verdicts.push(verdictOf(await receive("twilio", { ...request, headers: others })));
    }
    expect(verdicts).toEqual(["applied", "duplicate", "applied"]);
    expect(effects.map(([, body]) => body)).toEqual([
      "CallSid=CA1&CallStatus=ringing",
      "CallSid=CA1&CallStatus=completed",
    ]);
  });
});

const WOOCOMMERCE: Sources = (clock) => ({
  woocommerce: woocommerce({ secrets: TEST_SECRETS.woocommerce.verifying, clock }),
});

describe("WooCommerce, whose delivery id is a hash of the webhook and the second,", () => {
  it("has both orders of one second applied, and each of them once", async () => {
    const { receive, signed, effects } = setStage(WOOCOMMERCE);
    const headers = { "x-wc-webhook-delivery-id": "9b1c6f2a11" };
    const orders = [await signed("woocommerce", { headers }), await signed("woocommerce", { headers })];
    const verdicts: unknown[] = [];
    for (const each of [...orders, ...orders]) verdicts.push(verdictOf(await receive("woocommerce", each)));
    expect(verdicts).toEqual(["applied", "applied", "duplicate", "duplicate"]);
    expect(effects.map(([, body]) => body)).toEqual(orders.map(({ body }) => new TextDecoder().decode(body)));
  });
});

/** The same event as its provider writes it at a later attempt. */
function rewritten(request: TestRequest, change: object): TestRequest {
  const body = { ...(JSON.parse(new TextDecoder().decode(request.body)) as object), ...change };
  return { ...request, body: new TextEncoder().encode(JSON.stringify(body)) };
}

describe("a provider that writes the body anew for each attempt, and signs nothing,", () => {
  it("is Figma: a retry that counts itself is a duplicate, and a part of the same publication is an event", async () => {
    const { receive, signed, effects } = setStage((clock) => ({
      figma: figma({ secrets: TEST_SECRETS.figma.verifying, clock }),
    }));
    const published = await signed("figma", {
      type: "LIBRARY_PUBLISH",
      data: { created_styles: [{ key: "a" }] },
    });
    const verdicts: unknown[] = [];
    for (const change of [{}, { retries: 1 }, { created_styles: [], created_components: [{ key: "b" }] }])
      verdicts.push(verdictOf(await receive("figma", rewritten(published, change))));
    expect(verdicts).toEqual(["applied", "duplicate", "applied"]);
    expect(effects).toHaveLength(2);
  });

  it("is Chargebee: a retry that was scheduled anew is a duplicate", async () => {
    const { receive, signed, effects } = setStage((clock) => ({
      chargebee: chargebee({ secrets: TEST_SECRETS.chargebee.verifying, clock }),
    }));
    const created = await signed("chargebee", { id: "ev_1" });
    const verdicts: unknown[] = [];
    for (const change of [{}, { webhook_status: "re_scheduled" }])
      verdicts.push(verdictOf(await receive("chargebee", rewritten(created, change))));
    expect(verdicts).toEqual(["applied", "duplicate"]);
    expect(effects.map(([id]) => id)).toEqual(["ev_1"]);
  });
});

const MINUTE_MS = 60_000;

/** A quantity that changes back: bodies without id and time. */
function inventory(quantity: number): SignedRequestOptions {
  return {
    body: JSON.stringify({ triggerType: "ecomm_inventory_changed", payload: { id: "item_1", quantity } }),
  };
}

const WEBFLOW: Sources = (clock) => ({
  webflow: webflow({ secrets: TEST_SECRETS.webflow.verifying, clock }),
});

describe("Webflow, whose bodies recur,", () => {
  it("has retries as duplicates for as long as it retries, and the same bytes an hour later as a new event", async () => {
    const { receive, signed, effects, clock } = setStage(WEBFLOW);
    const verdicts: unknown[] = [];
    const post = async (quantity: number): Promise<void> => {
      verdicts.push(verdictOf(await receive("webflow", await signed("webflow", inventory(quantity)))));
    };
    await post(100);
    // Ten minutes apart, with a new time in the header.
    for (let n = 0; n < 3; n++) {
      await clock.advance(10 * MINUTE_MS);
      await post(100);
    }
    await post(99);
    // An hour after the first, and not after the last. Nothing was purged.
    await clock.advance(31 * MINUTE_MS);
    await post(100);
    expect(verdicts).toEqual(["applied", "duplicate", "duplicate", "duplicate", "applied", "applied"]);
    expect(
      effects.map(([, body]) => (JSON.parse(body) as { payload: { quantity: number } }).payload.quantity),
    ).toEqual([100, 99, 100]);
  });

  it("stored first, has both events handled, also where the worker comes hours later", async () => {
    const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
    const store = memoryStore({ clock, environment: "test" });
    const receiver = createReceiver({
      mode: "store_first",
      store,
      clock,
      sources: WEBFLOW(clock),
      observer: () => undefined,
    });
    const handled: string[] = [];
    const worker = createWorker({
      store,
      clock,
      handlers: { "*": (event: { id: string }, { tx }) => tx.onCommit(() => handled.push(event.id)) },
    });
    const verdicts: unknown[] = [];
    for (const waitMs of [0, 59 * MINUTE_MS, 2 * MINUTE_MS]) {
      await clock.advance(waitMs);
      const request = await signedRequest("webflow", { clock, ...inventory(100) });
      verdicts.push((await receiver.receive("webflow", request)).verdict);
    }
    await clock.advance(5 * 60 * MINUTE_MS);
    await worker.drain();
    expect(verdicts).toEqual(["stored", "duplicate", "stored"]);
    expect(handled).toHaveLength(2);
  });
});
