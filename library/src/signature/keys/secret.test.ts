import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeBase64, utf8 } from "../../bytes.js";
import { Key } from "./key.js";
import { generateKeyPair, generateSecret, parseStandardSecret, textKey } from "./secret.js";

const malformed = expect.objectContaining({ code: "secret_malformed", detail: { key: "name" } }) as Error;

describe("a secret", () => {
  it("of 24 bytes or more is read with its prefix or without, padded or not", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 80 }), (bytes) => {
        const text = encodeBase64(bytes);
        for (const secret of [text, `whsec_${text}`, `whsec_${text.replace(/=+$/, "")}`]) {
          const key = parseStandardSecret(secret, "name");
          expect(key).toMatchObject({ algorithm: "hmac_sha256", name: "name" });
          expect(key.material()).toEqual(bytes);
        }
      }),
    );
  });

  it("of fewer than 24 bytes is refused, in base64 and as text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 23 }), (bytes) => {
        expect(() => parseStandardSecret(`whsec_${encodeBase64(bytes)}`, "name")).toThrow(malformed);
      }),
    );
    expect(() => parseStandardSecret("a".repeat(23), "name", "utf8")).toThrow(malformed);
  });

  const good = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  it.each([
    ["a space behind", `whsec_${good} `],
    ["a line break", `whsec_${good}\n`],
    ["quotes around", `"whsec_${good}"`],
    ["a prefix twice", `whsec_whsec_${good}`],
    ["an upper-case prefix", `WHSEC_${good}12`],
    ["the prefix of a public key in capitals", `WHPK_${"A".repeat(43)}`],
    ["the prefix of a public key behind its own", `whsec_whpk_${"A".repeat(43)}`],
    ["characters missing", `whsec_${good.slice(0, -3)}`],
    ["mixed alphabets", `whsec_${good.slice(0, -4)}+_==`],
  ])("with %s is refused", (_, secret) => {
    expect(() => parseStandardSecret(secret, "name")).toThrow(malformed);
  });

  it("never shows itself in an error, nor when its key is printed", () => {
    for (const secret of [`whsec_${good}!`, "whpk_MfKQ", "whsk_MfKQ", "whsec_MfKQ"]) {
      const run = (): Key => parseStandardSecret(secret, "name");
      expect(run).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining("MfKQ") as string }),
      );
    }
    const key = parseStandardSecret(`whsec_${good}`, "name");
    expect(JSON.stringify(key)).toBe('{"name":"name","algorithm":"hmac_sha256"}');
  });

  it("used as text counts whole, prefix included", () => {
    expect(parseStandardSecret(`whsec_${good}`, "name", "utf8").material()).toEqual(utf8(`whsec_${good}`));
    expect(textKey("hmac_sha1")("s", "name")).toEqual(new Key("hmac_sha1", "name", utf8("s")));
  });
});

function of(length: number): string {
  return encodeBase64(new Uint8Array(length).fill(7));
}

describe("an asymmetric key", () => {
  it("is told by its prefix and can never become an HMAC secret, whatever the encoding", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        for (const encoding of ["base64", "utf8"] as const) {
          const key = parseStandardSecret(`whpk_${encodeBase64(bytes)}`, "name", encoding);
          expect([key.algorithm, key.material()]).toEqual(["ed25519", bytes]);
          const signing = parseStandardSecret(`whsk_${encodeBase64(bytes)}`, "name", encoding);
          expect([signing.algorithm, signing.material()]).toEqual(["ed25519_private", bytes]);
        }
      }),
    );
  });

  it("of a wrong length is refused; a signing key may carry its public key behind it, as Svix writes it", () => {
    for (const length of [0, 31, 33, 64])
      expect(() => parseStandardSecret(`whpk_${of(length)}`, "name")).toThrow(malformed);
    for (const length of [0, 31, 33, 63, 65])
      expect(() => parseStandardSecret(`whsk_${of(length)}`, "name")).toThrow(malformed);
    expect(parseStandardSecret(`whsk_${of(64)}`, "name").material()).toHaveLength(32);
  });
});

describe("a generated secret", () => {
  it("has 32 random bytes and is accepted as it is", () => {
    const secrets = [generateSecret(), generateSecret()];
    expect(secrets[0]).not.toBe(secrets[1]);
    for (const secret of secrets) expect(parseStandardSecret(secret, "name").material()).toHaveLength(32);
  });

  it("is a pair whose halves are accepted as what they are", async () => {
    const pair = await generateKeyPair();
    expect(parseStandardSecret(pair.signingKey, "name").algorithm).toBe("ed25519_private");
    expect(parseStandardSecret(pair.publicKey, "name").algorithm).toBe("ed25519");
  });
});
