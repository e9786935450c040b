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
