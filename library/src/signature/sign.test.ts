import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Webhook as Official } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import { utf8 } from "../bytes.js";
import { systemClock } from "../clock.js";
import type { Stamp } from "../event.js";
import { generateKeyPair } from "./keys/secret.js";
import { createSigner, sign, signSync } from "./sign.js";
import type { Signable } from "./sign.js";

const NOW_S = Math.floor(Date.now() / 1000);
const clock = { ...systemClock, now: () => NOW_S * 1000 + 999 };
const OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const stamp: Stamp = {
  lane: { generation: 1n, key: "customer/é", sequence: 5n, after: undefined },
  attempt: 1,
  replay: false,
};
const event: Signable = { id: "evt_1", body: utf8('{"type":"a"}') };

describe("a signed event", () => {
  it("is accepted by the official libraries, whatever its id and body", () => {
    const id = fc.stringMatching(/^[\x21-\x2d\x2f-\x7e]{1,255}$/);
    fc.assert(
      fc.property(id, fc.json(), (eventId, body) => {
        const headers = signSync(createSigner({ secrets: [OLD, NEW], clock }), {
          id: eventId,
          body: utf8(body),
        });
        for (const secret of [OLD, NEW]) {
          const parsed: unknown = JSON.parse(body);
          expect(new Official(secret).verify(body, { ...headers })).toEqual(parsed);
          expect(new Svix(secret).verify(body, { ...headers })).toEqual(parsed);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("with a stamp is still accepted by the official libraries", () => {
    const headers = signSync(createSigner({ secrets: OLD, clock }), { ...event, stamp });
    expect(headers["posthorn-sequence"]).toBe("5");
    expect(new Official(OLD).verify('{"type":"a"}', { ...headers })).toEqual({ type: "a" });
    expect(new Svix(OLD).verify('{"type":"a"}', { ...headers })).toEqual({ type: "a" });
  });

  it("carries id, whole seconds of the attempt, one entry for each key, and the id as idempotency key", async () => {
    const { signingKey } = await generateKeyPair();
    const headers = signSync(createSigner({ secrets: [OLD, signingKey], clock }), { ...event, stamp });
    const { "webhook-signature": signature, ...others } = headers;
    expect(others).toEqual({
      "webhook-id": "evt_1",
      "webhook-timestamp": String(NOW_S),
      "idempotency-key": "evt_1",
      "posthorn-generation": "1",
      "posthorn-key": "customer%2F%C3%A9",
      "posthorn-sequence": "5",
      "posthorn-attempt": "1",
    });
    const versions = signature?.split(" ").map((entry) => entry.split(",")[0]);
    expect(versions).toEqual(["v1", "v1a", "ph1", "ph1a"]);
  });

  it("has no order headers without a stamp, and no empty ones with half of it", () => {
    const signer = createSigner({ secrets: OLD, clock });
    expect(Object.keys(signSync(signer, event)).toSorted()).toEqual([
      "idempotency-key",
      "webhook-id",
      "webhook-signature",
      "webhook-timestamp",
    ]);
    const keyless = signSync(signer, { ...event, stamp: { attempt: 3, replay: false } });
    expect(Object.keys(keyless).filter((name) => name.startsWith("posthorn-"))).toEqual(["posthorn-attempt"]);
  });

  it("is signed for the moment that was asked for", () => {
    const headers = signSync(createSigner({ secrets: OLD, clock }), { ...event, at: new Date(1_000_999) });
    expect(headers["webhook-timestamp"]).toBe("1000");
  });

  it("is the same by promise as at once", async () => {
    const { signingKey } = await generateKeyPair();
    const signer = createSigner({ secrets: [OLD, signingKey, NEW], clock });
    expect(await sign(signer, { ...event, stamp })).toEqual(signSync(signer, { ...event, stamp }));
  });

  it("has headers that any HTTP client can carry", () => {
    const headers = signSync(createSigner({ secrets: OLD, clock }), { ...event, stamp });
    for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]+$/);
  });
});

describe("an event that cannot be signed", () => {
  const unsignable = expect.objectContaining({ code: "event_unsignable" }) as Error;
  const signer = createSigner({ secrets: OLD, clock });

  it.each(["", "a.b", "a b", "a\n", "\0", "é", "../x", "\u{1f4ef}", "a".repeat(256), undefined, null, 5])(
    "has an id like %j, and is refused at once and by promise",
    async (id) => {
      const bad = { ...event, id: id as string };
      expect(() => signSync(signer, bad)).toThrow(unsignable);
      await expect(sign(signer, bad)).rejects.toThrow(unsignable);
    },
  );

  it("has a body that is no bytes, or a time that no verifier would read", () => {
    for (const body of ['{"type":"a"}', {}, undefined, new ArrayBuffer(3)])
      expect(() => signSync(signer, { ...event, body: body as Uint8Array })).toThrow(unsignable);
    for (const ms of [Number.NaN, 0, 999, -5, 1e14, 8.64e15])
      expect(() => signSync(signer, { ...event, at: new Date(ms) })).toThrow(unsignable);
  });
});

describe("a signer", () => {
  it("is not made from a public key, a bad secret or none", async () => {
    const { publicKey } = await generateKeyPair();
    expect(() => createSigner({ secrets: publicKey })).toThrow(
      'secret 1 is a "whpk_" public key, which cannot sign. Sign with its "whsk_" key.',
    );
    expect(() => createSigner({ secrets: "whsec_AAAA" })).toThrow(
      "secret 1 has 3 bytes, fewer than 24. Copy it whole, without spaces or quotes.",
    );
    expect(() => createSigner({})).toThrow(expect.objectContaining({ code: "secret_missing" }));
  });

  it("is not made from more keys than receivers read signatures of", () => {
    expect(() => createSigner({ secrets: Array.from({ length: 9 }, () => OLD) })).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
  });
});
