import { createReceiver } from "posthorn";
import type { Receiver, Reply, Signal, SignedRequest, SourceOptions, Verifier } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { github, mailgun, stripe, twilio } from "posthorn/providers";
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
