import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.js";
import { Key } from "./keys/key.js";
import { readEvents } from "./read-events.js";
import type { EventIdentity, Scheme, Verified } from "./scheme.js";
import { STANDARD_WEBHOOKS, standardWebhooks } from "./schemes/standard.js";

const body = utf8('[{"a":1},{"a":2}]');

function verified(identities: readonly EventIdentity[]): Verified {
  const scheme: Scheme = { ...STANDARD_WEBHOOKS, name: "batches", identify: () => identities };
  const verifier = { ...standardWebhooks({ secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }), scheme };
  const match = { key: new Key("hmac_sha256", "secret 1", utf8("s")), keyIndex: 0, signature: utf8("m") };
  return {
    verifier,
    match,
    request: { headers: {}, body },
    key: "secret 1",
    keyIndex: 0,
    signedAt: undefined,
    stamp: { attempt: 1, replay: false },
  };
}

describe("the events of a verified request", () => {
  it("carry what the scheme names, the stamp, and the scheme's name as source", () => {
    const time = new Date(5);
    expect(readEvents(verified([{ id: "a", type: "t", time }]))).toEqual([
      { id: "a", source: "batches", type: "t", time, stamp: { attempt: 1, replay: false }, body },
    ]);
  });

  it("come from the source that the receiver names", () => {
    expect(readEvents(verified([{ id: "a" }]), "billing")[0]?.source).toBe("billing");
  });

  it("are as many as the batch holds, each with its own bytes", () => {
    const slices = [body.subarray(1, 8), body.subarray(9, 16)];
    const events = readEvents(verified(slices.map((slice, index) => ({ id: `${index}`, body: slice }))));
    expect(events.map((event) => new TextDecoder().decode(event.body))).toEqual(['{"a":1}', '{"a":2}']);
  });

  it("have an unknown type and no id where the sender tells none", () => {
    expect(readEvents(verified([{}]))[0]).toMatchObject({ id: undefined, type: "unknown", time: undefined });
    expect(readEvents(verified([]))).toEqual([]);
  });
});
