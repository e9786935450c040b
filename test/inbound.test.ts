import { createReceiver } from "posthorn";
import type { Reply, Signal, SignedRequest, Verifier } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { twilio } from "posthorn/providers";
import { createFakeClock, signedRequest, TEST_SECRETS } from "posthorn/testing";
import type { FakeClock, ProviderName, SignedRequestOptions, TestRequest } from "posthorn/testing";
import { describe, expect, it } from "vitest";

// What a provider's scheme and the inbox promise together, and neither could alone.

interface Stage {
  readonly clock: FakeClock;
  readonly signals: Signal[];
  /** What handlers saw: the event's id and its body. */
  readonly effects: (readonly [id: string, body: string])[];
  readonly receive: (source: string, request: SignedRequest) => Promise<Reply>;
  readonly signed: (provider: ProviderName, options?: SignedRequestOptions) => Promise<TestRequest>;
}

type Sources = (clock: FakeClock) => Readonly<Record<string, Verifier>>;

function setStage(sources: Sources): Stage {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const signals: Signal[] = [];
  const effects: (readonly [string, string])[] = [];
  const receiver = createReceiver({
    store: memoryStore({ clock, environment: "test" }),
    clock,
    observer: (signal) => void signals.push(signal),
    sources: sources(clock),
    handlers: {
      "*": (event, { tx }) =>
        tx.onCommit(() => effects.push([event.id, new TextDecoder().decode(event.body)])),
    },
  });
  return {
    clock,
    signals,
    effects,
    receive: (source, request) => receiver.receive(source, request),
    signed: (provider, options) => signedRequest(provider, { clock, ...options }),
  };
}

function verdictOf({ headers }: Reply): string | undefined {
  return headers?.["posthorn-verdict"];
}

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
