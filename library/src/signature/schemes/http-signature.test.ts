import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { parseByteDictionary, parseSignatureInputs } from "../headers/structured-fields.js";
import { parsePublicKey } from "../keys/public-key.js";
import type { SignedRequest } from "../scheme.js";
import { signatureBase } from "../signature-base.js";
import { answerSync } from "../crypto/crypto-node.js";
import { TEST_SECRETS } from "../../testing/signed-request/fixture-keys.js";
import { signedRequest } from "../../testing/signed-request/signed-request.js";
import { verify } from "../verify.js";
import { httpSignature } from "./http-signature.js";

const clock = { now: () => Date.parse("2026-11-15T12:00:00Z") };
const secrets = TEST_SECRETS.http_signature.verifying;
const publicUrl = "https://example.com";

/** The request of RFC 9421, appendix B.2. */
const RFC_REQUEST: SignedRequest = {
  method: "POST",
  url: "https://example.com/foo?param=Value&Pet=dog",
  headers: {
    date: "Tue, 20 Apr 2021 02:07:55 GMT",
    "content-type": "application/json",
    "content-length": "18",
  },
  body: utf8('{"hello": "world"}'),
};

it("the base of RFC 9421, B.2.6 is built so that its published Ed25519 signature holds", () => {
  const text =
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
  const input = parseSignatureInputs(text)?.get("sig-b26");
  if (input === undefined) throw new Error("the list of B.2.6 was not read");
  const signature = parseByteDictionary(
    "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:",
  )?.get("sig-b26");
  const key = parsePublicKey(
    "MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=",
    "test-key-ed25519",
    "rsapss_sha512",
  );
  const content = [signatureBase(input, RFC_REQUEST, { publicUrl: undefined })];
  expect(answerSync({ key, content, signatures: [signature ?? new Uint8Array()] })).toBe(0);
});

describe("HTTP message signatures", () => {
  it("without a component that must be covered are refused, and the message names it", async () => {
    const request = await signedRequest("http_signature", { clock });
    const verifier = httpSignature({ secrets, clock, publicUrl, mustCover: ["@method", "x-tenant"] });
    await expect(verify(verifier, request)).rejects.toMatchObject({
      code: "signature_unsupported",
      message: expect.stringContaining("missing: x-tenant") as unknown,
    });
  });

  it("must cover the header that names the event", async () => {
    const request = await signedRequest("http_signature", { clock, headers: { "x-event-id": "evt_9" } });
    const verifier = httpSignature({ secrets, clock, publicUrl, id: { header: "x-event-id" } });
    await expect(verify(verifier, request)).rejects.toMatchObject({ code: "signature_unsupported" });
  });

  it("count under the label that is asked for, and under no other", async () => {
    const request = await signedRequest("http_signature", { clock });
    const wanted = httpSignature({ secrets, clock, publicUrl, label: "sig1" });
    expect((await verify(wanted, request)).keyIndex).toBe(0);
    const other = httpSignature({ secrets, clock, publicUrl, label: "sig2" });
    await expect(verify(other, request)).rejects.toMatchObject({ code: "signature_unsupported" });
  });

  it("tell a source of keys which key they name", async () => {
    const hints: unknown[] = [];
    const keys = httpSignature({ secrets, clock, publicUrl }).keys;
    const verifier = httpSignature({
      clock,
      publicUrl,
      keys: (hint) => {
        hints.push(hint);
        return Promise.resolve(typeof keys === "function" ? { keys: [] } : keys);
      },
    });
    await verify(verifier, await signedRequest("http_signature", { clock }));
    expect(hints).toEqual([{ name: "test" }]);
  });

  it("passed on by another receiver are refused, though the request names that one", async () => {
    const request = await signedRequest("http_signature", { clock, url: "https://other.example/hooks" });
    await expect(verify(httpSignature({ secrets, clock, publicUrl }), request)).rejects.toMatchObject({
      code: "signature_mismatch",
    });
  });

  it.each([undefined, ""])("cannot be verified by a receiver whose own URL is %j", (missing) => {
    const options = { secrets, clock, publicUrl: missing as string };
    expect(() => httpSignature(options)).toThrow(
      expect.objectContaining({
        code: "option_invalid",
        message: expect.stringMatching(
          /^publicUrl is (not given|empty); expected the receiver's own URL/,
        ) as string,
      }),
    );
  });

  it("of another receiver's request are refused: the URL is covered", async () => {
    const request = await signedRequest("http_signature", { clock, url: "https://other.example/hooks" });
    const verifier = httpSignature({ secrets, clock, publicUrl: "https://example.com/hooks" });
    await expect(verify(verifier, request)).rejects.toMatchObject({ code: "signature_mismatch" });
  });
});

it.each([
  ["", "an empty text"],
  ["sig1", "a name without a value"],
  ["sig1=(", "an open list"],
  ['sig1=("a" "b"', "a list that does not end"],
  ['sig1=("a"),', "a comma at the end"],
  ['sig1=("a");x=1;x=2', "a parameter twice"],
  ["sig1=(a)", "a component without quotes"],
  ['SIG1=("a")', "a name in capitals"],
])("%j is no list of covered components: %s", (text) => {
  expect(parseSignatureInputs(text)).toBeUndefined();
});
