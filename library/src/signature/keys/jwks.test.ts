import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../bytes.js";
import { keySetFromJwks } from "./jwks.js";

// The public key of RFC 8037, appendix A.2.
const X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const jwk = { kty: "OKP", crv: "Ed25519", x: X, kid: "2026-11" };

function names(document: unknown): string[] {
  return keySetFromJwks(document).keys.map((key) => key.name);
}

describe("a JWKS document", () => {
  it("yields its Ed25519 keys by their kid, in order, as the 32 bytes of x", () => {
    const { keys } = keySetFromJwks({ keys: [jwk, { ...jwk, kid: "old" }] });
    expect(keys.map(({ name, algorithm }) => [name, algorithm])).toEqual([
      ["2026-11", "ed25519"],
      ["old", "ed25519"],
    ]);
    expect(encodeBase64(keys[0]?.material() ?? new Uint8Array())).toBe(
      "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    );
  });

  it("may hold keys of other kinds or for other uses, which are passed over", () => {
    const others = [
      { kty: "RSA", n: "AQAB", e: "AQAB", kid: "rsa" },
      { kty: "OKP", crv: "X25519", x: X, kid: "x25519" },
      { ...jwk, use: "enc", kid: "enc" },
      { ...jwk, alg: "ES256", kid: "es256" },
      // A secret published as a key must never become one.
      { kty: "oct", k: X, kid: "oct" },
      null,
      "text",
    ];
    expect(
      names({ keys: [...others, { ...jwk, use: "sig", alg: "EdDSA" }, { ...jwk, alg: "Ed25519" }] }),
    ).toEqual(["2026-11", "2026-11"]);
  });

  it("passes over keys that it says are revoked, or not for checking signatures", () => {
    const unusable = [
      { ...jwk, revoked: true, kid: "revoked" },
      { ...jwk, revoked: { revoked_at: 1_700_000_000, reason: "compromised" }, kid: "revoked with a reason" },
      { ...jwk, revoked: "yes", kid: "revoked in other words" },
      { ...jwk, key_ops: ["sign"], kid: "signs" },
      { ...jwk, key_ops: [], kid: "does nothing" },
      { ...jwk, key_ops: "verify", kid: "does what cannot be read" },
      { ...jwk, use: "enc", kid: "encrypts" },
      { ...jwk, use: 7, kid: "is used as nobody knows" },
      { ...jwk, alg: "none", kid: "has no algorithm" },
    ];
    const usable = [
      { ...jwk, revoked: false, kid: "not revoked" },
      { ...jwk, revoked: null, kid: "null" },
      { ...jwk, key_ops: ["sign", "verify"], kid: "verifies" },
      { ...jwk, x5c: ["?"], ext: true, anything: { else: 1 }, kid: "with more fields" },
    ];
    expect(names({ keys: [...unusable, ...usable] })).toEqual([
      "not revoked",
      "null",
      "verifies",
      "with more fields",
    ]);
    expect(() => keySetFromJwks({ keys: unusable })).toThrow(
      expect.objectContaining({
        code: "secret_malformed",
        message: "The JWKS document holds no Ed25519 key for checking signatures that is not revoked.",
      }),
    );
  });

  it("names a key without kid by its place", () => {
    expect(names({ keys: [jwk, { ...jwk, kid: undefined }, { ...jwk, kid: 7 }] })).toEqual([
      "2026-11",
      "key 2",
      "key 3",
    ]);
  });

  it.each([
    ["nothing", undefined],
    ["a text", "{}"],
    ["no keys", {}],
    ["keys that are no list", { keys: {} }],
    ["an empty list", { keys: [] }],
    ["only keys of other kinds", { keys: [{ kty: "RSA" }] }],
    ["a short x", { keys: [{ ...jwk, x: "AAAA" }] }],
    ["an x that is no base64", { keys: [{ ...jwk, x: `${X} ` }] }],
    ["no x", { keys: [{ ...jwk, x: undefined }] }],
  ])("with %s is refused rather than leaving no key to check", (_, document) => {
    expect(() => keySetFromJwks(document)).toThrow(expect.objectContaining({ code: "secret_malformed" }));
  });
});

/** Whether a key with these fields counts at a time. */
function counts(fields: object, nowMs: number): boolean {
  const [key] = keySetFromJwks({ keys: [{ ...jwk, ...fields }] }).keys;
  return key?.period?.includes(nowMs) ?? true;
}

describe("the time of a key", () => {
  const from = Date.parse("2026-11-01T00:00:00Z");
  const until = Date.parse("2026-12-01T00:00:00Z");

  it.each([
    ["seconds", { nbf: from / 1000, exp: until / 1000 }],
    ["dates", { not_before: "2026-11-01T00:00:00Z", not_after: "2026-12-01T00:00:00Z" }],
    [
      "both, of which the narrower counts",
      { nbf: from / 1000, exp: until / 1000, not_after: "2027-01-01T00:00:00Z" },
    ],
  ])("begins and ends as it says in %s", (_, fields) => {
    expect([from - 1, from, until - 1, until].map((nowMs) => counts(fields, nowMs))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it("is open on the side on which it says nothing", () => {
    expect([counts({ exp: until / 1000 }, 0), counts({ exp: until / 1000 }, until)]).toEqual([true, false]);
    expect([counts({ nbf: from / 1000 }, 0), counts({ nbf: from / 1000 }, 8.64e15)]).toEqual([false, true]);
    expect(counts({}, 0)).toBe(true);
  });

  it.each([
    ["exp", "soon"],
    ["exp", null],
    ["nbf", { at: 1 }],
    ["not_after", "12/31/2026"],
    ["not_before", Number.NaN],
  ])("is refused where %s is %j: a limit that cannot be read must not be none", (field, value) => {
    expect(() => keySetFromJwks({ keys: [{ ...jwk, [field]: value }] })).toThrow(
      expect.objectContaining({
        code: "secret_malformed",
        message: `The JWKS document has the key "2026-11", whose "${field}" is neither unix seconds nor a date such as 2026-01-31T12:00:00Z.`,
      }),
    );
  });

  it("is told when no key counts", () => {
    const { keys } = keySetFromJwks({
      keys: [
        { ...jwk, nbf: from / 1000, exp: until / 1000 },
        { ...jwk, kid: "next", nbf: until / 1000 },
        { ...jwk, kid: "last", exp: from / 1000 },
      ],
    });
    expect(keys.map(({ period }) => String(period))).toEqual([
      "from 2026-11-01T00:00:00.000Z until 2026-11-30T23:59:59.999Z",
      "from 2026-12-01T00:00:00.000Z",
      "until 2026-10-31T23:59:59.999Z",
    ]);
  });
});
