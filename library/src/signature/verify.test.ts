import { describe, expect, it, vi } from "vitest";
import { utf8 } from "../bytes.js";
import { systemClock } from "../clock.js";
import type { Signal } from "../observer.js";
import { PosthornError } from "../posthorn-error.js";
import { Key } from "./keys/key.js";
import type { Diagnose, Refusal, SignedRequest, Verifier } from "./scheme.js";
import { standardWebhooks } from "./schemes/standard.js";
import type { StandardOptions } from "./schemes/standard.js";
import { createSigner, signSync } from "./sign.js";
import { verify, verifySync } from "./verify.js";

const NOW_S = 1_794_770_453;
const clock = { ...systemClock, now: () => NOW_S * 1000 };
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const body = utf8('{"type":"a"}');

function request(secrets: string | string[] = SECRET): SignedRequest {
  return { headers: signSync(createSigner({ secrets, clock }), { id: "evt_1", body }), body };
}

function verifier(options: Partial<StandardOptions> = {}): Verifier {
  return standardWebhooks({ secrets: SECRET, clock, ...options });
}

/** The error that both forms throw; they must agree on every word. */
async function refusal(of: Verifier, asked: SignedRequest): Promise<PosthornError> {
  const atOnce = caught(() => verifySync(of, asked));
  const promised: unknown = await verify(of, asked).catch((error: unknown) => error);
  expect(promised).toMatchObject({ code: atOnce.code, message: atOnce.message, detail: atOnce.detail });
  return atOnce;
}

function caught(run: () => unknown): PosthornError {
  try {
    run();
  } catch (error) {
    if (error instanceof PosthornError) return error;
    throw error;
  }
  throw new Error("accepted");
}

describe("a request", () => {
  it("that is rightly signed is accepted alike at once and by promise", async () => {
    const asked = request();
    const mine = verifier();
    const verified = verifySync(mine, asked);
    expect(verified).toMatchObject({
      verifier: mine,
      request: asked,
      key: "secret 1",
      keyIndex: 0,
      signedAt: new Date(NOW_S * 1000),
      stamp: undefined,
    });
    expect(await verify(mine, asked)).toEqual(verified);
  });

  it("names the key that matched, so that a rotation can be followed to its end", async () => {
    const rotating = verifier({
      secrets: [
        { name: "new", secret: OTHER },
        { name: "old", secret: SECRET },
      ],
    });
    expect(verifySync(rotating, request())).toMatchObject({ key: "old", keyIndex: 1 });
    expect(verifySync(rotating, request(OTHER))).toMatchObject({ key: "new", keyIndex: 0 });
    // Signed with both: the key that is first in the verifier's own order.
    expect(await verify(rotating, request([SECRET, OTHER]))).toMatchObject({ key: "new", keyIndex: 0 });
  });

  it("signed with none of the keys is refused, with the names of those that were tried", async () => {
    const error = await refusal(verifier({ secrets: [OTHER, { name: "b", secret: OTHER }] }), request());
    expect(error).toMatchObject({ code: "signature_mismatch", detail: { keys: ["secret 1", "b"] } });
  });

  it.each([
    ["a text", '{"type":"a"}'],
    ["a parsed object", { type: "a" }],
    ["an ArrayBuffer", new ArrayBuffer(4)],
    ["an array of numbers", [1, 2]],
    ["undefined, because a framework consumed the stream", undefined],
    ["null", null],
    ["other views", new Uint16Array(4)],
  ])("whose body is %s is refused before anything else, with the way to mend it", async (_, wrong) => {
    const error = await refusal(verifier(), { ...request(), body: wrong as unknown as Uint8Array });
    expect(error.code).toBe("body_not_raw");
    expect(error.message).toBe(
      `The body is of type ${typeof wrong}; expected its exact bytes: new Uint8Array(await request.arrayBuffer()).`,
    );
  });

  it("may have its body as a Buffer", () => {
    expect(verifySync(verifier(), { ...request(), body: Buffer.from(body) }).keyIndex).toBe(0);
  });

  it("that is no request at all is refused with an error of ours", async () => {
    const codes: unknown[] = [];
    for (const nonsense of [undefined, null, 5, {}, { body }, { body, headers: null }])
      codes.push((await refusal(verifier(), nonsense as SignedRequest)).code);
    const unreadable = "signature_unverifiable";
    expect(codes).toEqual([unreadable, unreadable, "body_not_raw", "body_not_raw", unreadable, unreadable]);
  });
});

describe("keys by promise", () => {
  const key = new Key("hmac_sha256", "brought", Buffer.from(SECRET.slice(6), "base64"));

  it("are awaited by verify and refused by verifySync", async () => {
    const mine = verifier({ keys: () => Promise.resolve({ keys: [key] }) });
    expect(await verify(mine, request())).toMatchObject({ key: "brought", keyIndex: 0 });
    expect(caught(() => verifySync(mine, request())).code).toBe("keys_asynchronous");
  });

  it("that do not come refuse the request, with the reason as cause", async () => {
    const cause = new Error("no network");
    const broken = [
      verifier({ keys: () => Promise.reject(cause) }),
      verifier({
        keys: () => {
          throw cause;
        },
      }),
    ];
    for (const mine of broken)
      await expect(verify(mine, request())).rejects.toMatchObject({ code: "signature_unverifiable", cause });
    const empty = verifier({ keys: () => Promise.resolve({ keys: [] }) });
    await expect(verify(empty, request())).rejects.toMatchObject({ code: "signature_unsupported" });
    const nothing = verifier({ keys: () => Promise.resolve(undefined as never) });
    await expect(verify(nothing, request())).rejects.toMatchObject({ code: "signature_unverifiable" });
  });

  it("are not fetched for a request that is malformed or too old, which anybody can send", async () => {
    let asked = 0;
    const mine = verifier({
      keys: () => {
        asked++;
        return Promise.resolve({ keys: [key] });
      },
    });
    await expect(verify(mine, { headers: {}, body })).rejects.toMatchObject({ code: "header_missing" });
    const old = { ...request().headers, "webhook-timestamp": "1000" };
    await expect(verify(mine, { headers: old, body })).rejects.toMatchObject({
      code: "timestamp_out_of_range",
    });
    expect(asked).toBe(0);
  });
});

describe("the observer", () => {
  it("hears of every verdict once, and never of a secret or payload", async () => {
    const signals: Signal[] = [];
    const mine = verifier({ observer: (signal) => signals.push(signal) });
    verifySync(mine, request());
    await verify(mine, request());
    await refusal(mine, request(OTHER));
    expect(signals.map(({ kind }) => kind)).toEqual([
      "signature_accepted",
      "signature_accepted",
      "signature_refused",
      "signature_refused",
    ]);
    expect(signals[2]).toEqual({
      kind: "signature_refused",
      scheme: "standard_webhooks",
      code: "signature_mismatch",
      message: "No signature in the request matches any of the 1 given key(s).",
      detail: { keys: ["secret 1"] },
      diagnosis: [],
    });
    const printed = JSON.stringify(signals);
    expect(printed).not.toContain(SECRET.slice(6, 20));
    expect(printed).not.toContain("type");
  });

  it("that throws changes no verdict", () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const mine = verifier({
      observer: () => {
        throw new Error("no disk");
      },
    });
    expect(verifySync(mine, request()).keyIndex).toBe(0);
    expect(caught(() => verifySync(mine, request(OTHER))).code).toBe("signature_mismatch");
    vi.restoreAllMocks();
  });
});

function saying(says: (of: Refusal) => readonly string[]): Diagnose {
  return Object.assign((of: Refusal) => Promise.resolve(says(of)), { sync: says });
}

describe("forensics", () => {
  it("is told in the error and to the observer", async () => {
    const signals: Signal[] = [];
    const diagnose = saying(() => ["Certain.", "Proved."]);
    const error = await refusal(
      verifier({ observer: (signal) => signals.push(signal), diagnose }),
      request(OTHER),
    );
    expect(error.code).toBe("signature_mismatch");
    expect(error.message).toBe(
      "No signature in the request matches any of the 1 given key(s). Certain. Proved.",
    );
    expect(error.detail).toEqual({ keys: ["secret 1"], diagnosis: ["Certain.", "Proved."] });
    expect(signals[0]).toMatchObject({ diagnosis: ["Certain.", "Proved."] });
  });

  it("is not asked about what was accepted", () => {
    const mine = verifier({ diagnose: saying(() => expect.fail("asked")) });
    expect(verifySync(mine, request()).keyIndex).toBe(0);
  });

  it("is handed the refusal: error, request, verifier and keys", async () => {
    const mine: Verifier = verifier({
      diagnose: saying((of) => [
        `${of.error.code} ${of.keys.length} ${of.verifier === mine} ${of.request.body.length}`,
      ]),
    });
    const error = await refusal(mine, request(OTHER));
    expect(error.detail["diagnosis"]).toEqual([`signature_mismatch 1 true ${body.length}`]);
  });
});

describe("an error", () => {
  it("that a scheme throws by mistake comes out as ours, with the mistake as cause", async () => {
    const cause = new TypeError("a scheme's mistake");
    const mine = verifier();
    const scheme = {
      ...mine.scheme,
      read: () => {
        throw cause;
      },
    };
    expect(await refusal({ ...mine, scheme }, request())).toMatchObject({
      code: "signature_unverifiable",
      cause,
    });
  });

  it("from a key that cannot be parsed refuses the request", async () => {
    const key = new Key("rsa_sha256", "k", utf8("no key"));
    const mine = verifier({ keys: { keys: [key] } });
    const scheme = {
      ...mine.scheme,
      read: () => ({
        claims: [{ algorithm: "rsa_sha256" as const, content: [body], signatures: [new Uint8Array(9)] }],
      }),
    };
    expect((await refusal({ ...mine, scheme }, request())).code).toBe("signature_unverifiable");
  });
});
