import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64, encodeBase64, utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import type { Event, Stamp } from "../../event.js";
import { readEvents } from "../read-events.js";
import type { SignedRequest, Verified, Verifier } from "../scheme.js";
import { generateKeyPair } from "../keys/secret.js";
import { createSigner, signSync } from "../sign.js";
import { STAMP_HEADERS } from "../stamp.js";
import { verifySync } from "../verify.js";
import { STANDARD_WEBHOOKS, standardWebhooks } from "./standard.js";
import type { StandardOptions } from "./standard.js";

const NOW_S = 1_794_770_453;
const clock = { ...systemClock, now: () => NOW_S * 1000 };
const OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const PAIR = await generateKeyPair();
const body = utf8('{"type":"invoice.paid","timestamp":"2026-11-15T19:20:53Z","data":{}}');
const stamp: Stamp = {
  lane: { generation: 2n, key: "customer/7", sequence: 12n, after: 11n },
  time: new Date(1_794_770_400_123),
  attempt: 3,
  replay: false,
};

type Headers = Record<string, string>;

interface Sent extends SignedRequest {
  readonly headers: Headers;
}

function signed(
  secrets: string | string[],
  extra: { stamp?: Stamp; body?: Uint8Array; id?: string } = {},
): Sent {
  const event = { id: "evt_1", body, ...extra };
  return { headers: { ...signSync(createSigner({ secrets, clock }), event) }, body: event.body };
}

function verifier(options: Partial<StandardOptions> = {}): Verifier {
  return standardWebhooks({ secrets: OLD, clock, ...options });
}

function codeOf(mine: Verifier, request: SignedRequest): string {
  try {
    verifySync(mine, request);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "accepted";
}

function entriesOf(request: { headers: Headers }): string[] {
  return (request.headers["webhook-signature"] ?? "").split(" ");
}

function withHeaders(request: Sent, headers: Headers): SignedRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}

function stampOf(request: SignedRequest, options: Partial<StandardOptions> = {}): Verified["stamp"] {
  return verifySync(verifier(options), request).stamp;
}

function eventOf(text: string, extra: { stamp?: Stamp } = {}): Event | undefined {
  return readEvents(verifySync(verifier(), signed(OLD, { body: utf8(text), ...extra })))[0];
}

describe("Standard Webhooks", () => {
  it("verifies the example of the specification's reference library", () => {
    // standardwebhooks 1.1.1, javascript/src/webhook.test.ts
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const at = { ...systemClock, now: () => 1_614_265_330_000 };
    const request = {
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
      body: utf8('{"test": 2432232314}'),
    };
    expect(verifySync(verifier({ secrets: secret, clock: at }), request).signedAt).toEqual(
      new Date(1_614_265_330_000),
    );
  });

  it("accepts any bytes that were signed, and refuses them with one bit changed anywhere", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), (bytes, where) => {
        const request = signed(OLD, { body: bytes });
        expect(codeOf(verifier(), request)).toBe("accepted");
        const changed = bytes.slice();
        const index = where % bytes.length;
        changed[index] = (changed[index] ?? 0) ^ (1 << (where % 8));
        expect(codeOf(verifier(), { ...request, body: changed })).toBe("signature_mismatch");
      }),
    );
  });

  it("signs the id and the time as well", () => {
    const request = signed(OLD);
    expect(codeOf(verifier(), withHeaders(request, { "webhook-id": "evt_2" }))).toBe("signature_mismatch");
    const later = { "webhook-timestamp": String(NOW_S + 1) };
    expect(codeOf(verifier(), withHeaders(request, later))).toBe("signature_mismatch");
  });

  it("accepts an empty body", () => {
    expect(codeOf(verifier(), signed(OLD, { body: new Uint8Array() }))).toBe("accepted");
  });

  it("refuses an id with a full stop, which would let id and time trade places under one signature", () => {
    const mac = createHmac("sha256", Buffer.from(OLD.slice(6), "base64"));
    const signature = mac.update(`evt.5.${NOW_S}.`).update(body).digest("base64");
    const headers = {
      "webhook-id": "evt.5",
      "webhook-timestamp": String(NOW_S),
      "webhook-signature": `v1,${signature}`,
    };
    expect(codeOf(verifier(), { headers, body })).toBe("header_malformed");
  });

  it("reads Svix's names where its own are absent, and never a mixture", () => {
    const request = signed(OLD);
    const svix = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.replace("webhook-", "svix-"), value]),
    );
    expect(codeOf(verifier(), { headers: svix, body })).toBe("accepted");
    expect(readEvents(verifySync(verifier(), { headers: svix, body }))[0]?.id).toBe("evt_1");
    // The name that counts is the name that was signed: an unsigned webhook-id beside svix-* must not become the id.
    expect(codeOf(verifier(), { headers: { ...svix, "webhook-id": "evt_2" }, body })).toBe("header_missing");
    expect(codeOf(verifier(), { headers: { ...request.headers, "svix-id": "evt_2" }, body })).toBe(
      "accepted",
    );
  });

  it("accepts one right signature among wrong and unknown ones, up to 16, and refuses more", () => {
    const request = signed(OLD);
    const [right = ""] = entriesOf(request);
    const wrong = `v1,${encodeBase64(new Uint8Array(32))}`;
    const list = (length: number): SignedRequest =>
      withHeaders(request, {
        "webhook-signature": [...Array<string>(length - 1).fill(wrong), right].join(" "),
      });
    expect(codeOf(verifier(), list(16))).toBe("accepted");
    expect(codeOf(verifier(), list(17))).toBe("header_malformed");
    for (const beside of ["v2,AAAA", "v1", ",", "v1,", "v1,!", "", "junk", "v1a,AAAA"])
      expect(codeOf(verifier(), withHeaders(request, { "webhook-signature": `${beside} ${right}` }))).toBe(
        "accepted",
      );
  });

  it("refuses a right digest under a sloppy text", () => {
    const request = signed(OLD);
    const digest = entriesOf(request)[0]?.slice(3) ?? "";
    const texts = {
      [`v1,${digest}=`]: "signature_unsupported",
      [`v1,${digest}A`]: "signature_unsupported",
      [`v1, ${digest}`]: "signature_unsupported",
      [`v1,${digest.slice(0, -2)}`]: "signature_mismatch",
      [`V1,${digest}`]: "signature_unsupported",
      [`v1=${digest}`]: "signature_unsupported",
      [digest]: "signature_unsupported",
      [`v1,${digest},`]: "signature_unsupported",
      [`v1,v1,${digest}`]: "signature_unsupported",
      [`"v1,${digest}"`]: "signature_unsupported",
    };
    for (const [text, code] of Object.entries(texts)) {
      const sloppy = withHeaders(request, { "webhook-signature": text });
      expect([text, codeOf(verifier(), sloppy)]).toEqual([text, code]);
    }
  });

  it("never takes a prefix of the digest for the digest", () => {
    const request = signed(OLD);
    const digest = decodeBase64(entriesOf(request)[0]?.slice(3) ?? "") ?? new Uint8Array();
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 31 }), (length) => {
        const text = `v1,${encodeBase64(digest.subarray(0, length))}`;
        expect(codeOf(verifier(), withHeaders(request, { "webhook-signature": text }))).toBe(
          "signature_mismatch",
        );
      }),
    );
  });
});

describe("algorithms", () => {
  it("a v1a signature is checked by a public key only", () => {
    const request = signed(PAIR.signingKey);
    expect(codeOf(verifier({ secrets: PAIR.publicKey }), request)).toBe("accepted");
    expect(codeOf(verifier({ secrets: OLD }), request)).toBe("signature_unsupported");
    expect(verifySync(verifier({ secrets: [OLD, PAIR.publicKey] }), request).keyIndex).toBe(1);
  });

  it("an HMAC made with the text or bytes of a public key, which all know, proves nothing", () => {
    const raw = Buffer.from(PAIR.publicKey.slice(5), "base64");
    for (const known of [raw, Buffer.from(PAIR.publicKey), Buffer.from(PAIR.publicKey.slice(5))]) {
      const digest = createHmac("sha256", known).update(`evt_1.${NOW_S}.`).update(body).digest("base64");
      for (const version of ["v1", "v1a"]) {
        const headers = {
          "webhook-id": "evt_1",
          "webhook-timestamp": String(NOW_S),
          "webhook-signature": `${version},${digest}`,
        };
        const code = version === "v1" ? "signature_unsupported" : "signature_mismatch";
        for (const secretEncoding of ["base64", "utf8"] as const) {
          const mine = verifier({ secrets: PAIR.publicKey, secretEncoding });
          expect(codeOf(mine, { headers, body })).toBe(code);
        }
      }
    }
  });

  it("an HMAC passed off as v1a, and an Ed25519 signature as v1, are refused", () => {
    const both = verifier({ secrets: [OLD, PAIR.publicKey] });
    for (const [secret, from, to] of [
      [OLD, "v1,", "v1a,"],
      [PAIR.signingKey, "v1a,", "v1,"],
    ] as const) {
      const request = signed(secret);
      const swapped = (entriesOf(request)[0] ?? "").replace(from, to);
      expect(codeOf(both, withHeaders(request, { "webhook-signature": swapped }))).toBe("signature_mismatch");
    }
  });

  it("a stamp's signature is no proof of the request", () => {
    const request = signed(OLD, { stamp });
    const [, ph1 = ""] = entriesOf(request);
    const codes = [ph1, ph1.replace("ph1,", "v1,")].map((entry) =>
      codeOf(verifier(), withHeaders(request, { "webhook-signature": entry })),
    );
    expect(codes).toEqual(["signature_unsupported", "signature_mismatch"]);
  });

  it("a signing key is refused by receivers, which must not hold it", () => {
    expect(() => verifier({ secrets: PAIR.signingKey })).toThrow(
      expect.objectContaining({
        code: "secret_malformed",
        message:
          'secret 1 has another prefix than one "whsec_" or "whpk_". ' +
          "Copy it whole, without spaces or quotes.",
      }),
    );
  });

  it("a secret used as text is verified when asked for, and not otherwise", () => {
    const secret = "polar_whs_0123456789abcdefghijklmn";
    const digest = createHmac("sha256", secret).update(`evt_1.${NOW_S}.`).update(body).digest("base64");
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(NOW_S),
      "webhook-signature": `v1,${digest}`,
    };
    expect(codeOf(verifier({ secrets: secret, secretEncoding: "utf8" }), { headers, body })).toBe("accepted");
  });
});

describe("the order of events", () => {
  it("is believed when it is signed, by either kind of key", () => {
    expect(stampOf(signed(OLD, { stamp }))).toEqual(stamp);
    expect(stampOf(signed(PAIR.signingKey, { stamp }), { secrets: PAIR.publicKey })).toEqual(stamp);
    expect(stampOf(signed([NEW, PAIR.signingKey, OLD], { stamp }))).toEqual(stamp);
  });

  it("counts as absent where no signed entry covers it", () => {
    const request = signed(OLD, { stamp });
    const [v1 = ""] = entriesOf(request);
    expect(stampOf(withHeaders(request, { "webhook-signature": v1 }))).toBeUndefined();
    const plain = signed(OLD);
    expect(
      stampOf(withHeaders(plain, { "posthorn-attempt": "1", "posthorn-sequence": "9" })),
    ).toBeUndefined();
  });

  it("counts as absent when one character of any of its headers, or of its entry, is changed", () => {
    const request = signed(OLD, { stamp });
    const names = [...STAMP_HEADERS, "webhook-signature"] as const;
    const char = fc.constantFrom(...Array.from("0123456789abcXYZ%-"));
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), char, (name, where, replacement) => {
        const value = request.headers[name] ?? "";
        const first = name === "webhook-signature" ? value.indexOf("ph1,") + 4 : 0;
        // The last digit of base64 padding is left alone: a change there is no longer base64, which the entry's parser tests.
        const index = first + (where % Math.max(1, value.length - first));
        const changed = value.slice(0, index) + replacement + value.slice(index + 1);
        // "-" stands for "+" in the url-safe alphabet: the same bytes, the same signature.
        fc.pre(changed !== value && !(value[index] === "+" && replacement === "-"));
        const verdict = verifySync(verifier(), withHeaders(request, { [name]: changed }));
        expect(verdict.stamp).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  it("counts as absent when a header is taken away or a whole stamp moves to another event", () => {
    const request = signed(OLD, { stamp });
    for (const name of STAMP_HEADERS.filter((each) => each in request.headers)) {
      const { [name]: _removed, ...rest } = request.headers;
      expect(stampOf({ ...request, headers: rest })).toBeUndefined();
    }
    const [, ph1 = ""] = entriesOf(request);
    for (const other of [signed(OLD, { id: "evt_2" }), signed(OLD, { body: utf8("{}") })]) {
      const moved = { ...request.headers, ...other.headers };
      moved["webhook-signature"] = `${entriesOf(other)[0] ?? ""} ${ph1}`;
      expect(stampOf({ ...other, headers: moved })).toBeUndefined();
    }
  });

  it("is not believed from another key than the one that proved the request", () => {
    const mine = signed(OLD);
    const foreign = signed(NEW, { stamp });
    const headers = {
      ...foreign.headers,
      "webhook-signature": `${entriesOf(mine)[0] ?? ""} ${entriesOf(foreign)[1] ?? ""}`,
    };
    expect(stampOf({ headers, body }, { secrets: [OLD, NEW] })).toBeUndefined();
  });

  it("is demanded by requireOrder: absent, altered or without a key, the request is refused", () => {
    const strict = verifier({ requireOrder: true });
    expect(verifySync(strict, signed(OLD, { stamp })).stamp).toEqual(stamp);
    expect(codeOf(strict, signed(OLD))).toBe("order_required");
    expect(codeOf(strict, signed(OLD, { stamp: { attempt: 1, replay: false } }))).toBe("order_required");
    expect(codeOf(strict, withHeaders(signed(OLD, { stamp }), { "posthorn-sequence": "13" }))).toBe(
      "order_required",
    );
  });
});

describe("the event of a request", () => {
  it("has the signed id, the body's type and time, and the exact bytes", () => {
    expect(readEvents(verifySync(verifier(), signed(OLD)))).toEqual([
      {
        id: "evt_1",
        source: "standard_webhooks",
        type: "invoice.paid",
        time: new Date("2026-11-15T19:20:53Z"),
        stamp: undefined,
        body,
      },
    ]);
  });

  it("has the stamp's time before the body's", () => {
    expect(eventOf('{"timestamp":"2026-11-15T19:20:53Z"}', { stamp })?.time).toEqual(stamp.time);
  });

  it.each([
    "",
    "not json",
    "[]",
    "null",
    '{"type":5,"timestamp":5}',
    '{"type":"","timestamp":"soon"}',
    '{"__proto__":{"type":"x"}}',
  ])("is unknown and timeless for the body %j, and never an error", (text) => {
    expect(eventOf(text)).toMatchObject({ id: "evt_1", type: "unknown", time: undefined });
  });
});

describe("the facts of the scheme", () => {
  it("say what its name, tolerance and replies are", () => {
    expect(STANDARD_WEBHOOKS).toMatchObject({
      name: "standard_webhooks",
      toleranceS: 300,
      retryHorizonS: 272_100,
      covers: { body: true, url: false, time: true },
      replies: { success: { status: 204 } },
    });
  });
});
