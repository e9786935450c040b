import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeBase64, decodeHex, encodeBase64, encodeHex } from "../../bytes.js";
import { isPosthornError } from "../../posthorn-error.js";
import { keyFromCertificate, keySetFromCertificate } from "./certificate.js";

interface PaypalVectors {
  readonly cases: readonly {
    readonly name: string;
    readonly verifier: { readonly options: { readonly certificate: string | string[] } };
  }[];
}

const vectors = new URL("../../../../spec/vectors/signature/paypal.json", import.meta.url);
const changing = (JSON.parse(readFileSync(vectors, "utf8")) as PaypalVectors).cases.find(({ name }) =>
  name.startsWith("the second of two certificates"),
);
const [RSA = "", UNTIL_2051 = ""] = changing?.verifier.options.certificate ?? [];

// Self-signed, made by Python cryptography; their private keys are gone.
const ELLIPTIC = `-----BEGIN CERTIFICATE-----
MIIBQDCB56ADAgECAgEHMAoGCCqGSM49BAMCMCoxFjAUBgNVBAoMDVBvc3Rob3Ju
IHRlc3QxEDAOBgNVBAMMB2VjLnRlc3QwHhcNMjMwMTAxMDAwMDAwWhcNMzMwMTAx
MDAwMDAwWjAqMRYwFAYDVQQKDA1Qb3N0aG9ybiB0ZXN0MRAwDgYDVQQDDAdlYy50
ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEof61E2yYpQNMcAQqK9oy31ml
z3HdzjCNZgdqgd815BDn851YeI3dG1gw4JbLR9pYzi152wZ3YDKpUmHGz3ckRzAK
BggqhkjOPQQDAgNIADBFAiADULdTFykBJuVhJptk4jH6AUiQVvPuaA4ktxuT4zYS
agIhAJJhVS98VsptRKuU/fq/xzE7Q38ZuoyVbK072caMRz5q
-----END CERTIFICATE-----
`;
const SHORT_RSA = `-----BEGIN CERTIFICATE-----
MIIBzjCCATegAwIBAgIBBzANBgkqhkiG9w0BAQsFADAtMRYwFAYDVQQKDA1Qb3N0
aG9ybiB0ZXN0MRMwEQYDVQQDDApzaG9ydC50ZXN0MB4XDTIzMDEwMTAwMDAwMFoX
DTMzMDEwMTAwMDAwMFowLTEWMBQGA1UECgwNUG9zdGhvcm4gdGVzdDETMBEGA1UE
AwwKc2hvcnQudGVzdDCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAsxLnhuUL
fGCER+1VCRnTjgprO9YhIfYZRPtsubeAgfrOfvxOpgZBs8H71rIruGcX4WWkYGlQ
w5GRqqBm3I3AScrKl/EW4771ear+asTsvUIBmqxAY2hQrSvV0ecenRiK7yIGF2j/
DwTI4crPHp++6AFWd0w32Tq/ac+8zrf+zmUCAwEAATANBgkqhkiG9w0BAQsFAAOB
gQBfIknhYivwkieDhhlQTwcmdzb7IP5LloOhWjYEbhuP7SUkik06S1TusRMtPEQk
4EYTJeuIiHPHi3kPMEipbj61gHDkJrP/oxW2E9NYch4vNNQu6nIxy7dmSxGnI3Xo
5QQeKSia+JrGL9QN142TSyTtDqSUWklsun4o6mw3wllWrg==
-----END CERTIFICATE-----
`;

function derOf(pem: string): Uint8Array<ArrayBuffer> {
  return decodeBase64(pem.replaceAll(/-----[A-Z ]+-----|\s/g, "")) ?? new Uint8Array();
}

function pemOf(der: Uint8Array): string {
  return `-----BEGIN CERTIFICATE-----\n${encodeBase64(der)}\n-----END CERTIFICATE-----\n`;
}

/** Read, or refused in the one way that is allowed; anything else is thrown on. */
function outcome(pem: string): string {
  try {
    return encodeHex(keyFromCertificate(pem, "certificate 1").material());
  } catch (error) {
    if (isPosthornError(error)) return error.code;
    throw error;
  }
}

it.each([
  ["with a UTCTime", RSA],
  ["with a GeneralizedTime, which years from 2050 need", UNTIL_2051],
])("key and validity of a certificate %s are those that OpenSSL reads", (_, pem) => {
  const theirs = new X509Certificate(pem);
  const [key] = keySetFromCertificate(pem).keys;
  const spki = theirs.publicKey.export({ format: "der", type: "spki" });
  expect(key?.algorithm).toBe("rsa_sha256");
  expect(encodeHex(key?.material() ?? new Uint8Array())).toBe(spki.toString("hex"));
  expect(key?.period).toEqual({
    fromMs: Date.parse(theirs.validFrom),
    untilMs: Date.parse(theirs.validTo),
  });
});

it("a key is named, so that the verdict can say which certificate matched", () => {
  expect(keySetFromCertificate(RSA, "https://api.paypal.com/cert").keys[0]?.name).toBe(
    "https://api.paypal.com/cert",
  );
});

it("of a chain only the first certificate signs, never its issuer", () => {
  expect(outcome(`leaf\n${RSA}\r\n${UNTIL_2051}`)).toBe(outcome(RSA));
  expect(keySetFromCertificate(RSA + UNTIL_2051).keys).toHaveLength(1);
});

describe("what is refused, always with the same code", () => {
  it.each([
    ["a key on an elliptic curve, which OpenSSL would check by another algorithm", ELLIPTIC],
    ["an RSA key of 1024 bits", SHORT_RSA],
    ["nothing", ""],
    ["a public key", RSA.replaceAll("CERTIFICATE", "PUBLIC KEY")],
    ["a certificate without its end", RSA.slice(0, 700)],
    ["nothing between the lines", pemOf(new Uint8Array())],
    ["base64 with junk in it", RSA.replace("MII", "M!II")],
    ["more text than any chain has", RSA + " ".repeat(65_536)],
    ["bytes behind the certificate", pemOf(Uint8Array.of(...derOf(RSA), 0))],
    ["an empty sequence", pemOf(Uint8Array.of(0x30, 0))],
    ["an indefinite length", pemOf(Uint8Array.of(0x30, 0x80, 0, 0))],
    ["a length of four bytes", pemOf(Uint8Array.of(0x30, 0x84, 0, 0, 0, 1, 0))],
    ["a length longer than it needs", pemOf(Uint8Array.of(0x30, 0x81, 0x02, 0x30, 0))],
    ["sequences in sequences", pemOf(new Uint8Array(20_000).fill(0x30))],
  ])("%s", (_, pem) => {
    expect(outcome(pem)).toBe("secret_malformed");
  });

  it("a key that is for RSA-PSS only, though it has RSA's form", () => {
    const identifier = "06092a864886f70d0101010500";
    const hex = encodeHex(derOf(RSA));
    expect(hex.split(identifier)).toHaveLength(2);
    const pss = decodeHex(hex.replace(identifier, "06092a864886f70d01010a0500"));
    expect(outcome(pemOf(pss ?? new Uint8Array()))).toBe("secret_malformed");
  });

  it("what is no text at all", () => {
    expect(outcome(undefined as unknown as string)).toBe("secret_malformed");
  });

  it("a certificate that was cut off, wherever", () => {
    const der = derOf(RSA);
    const codes = new Set(Array.from(der, (_, length) => outcome(pemOf(der.subarray(0, length)))));
    expect([...codes]).toEqual(["secret_malformed"]);
  });

  it("with one byte changed it is read or refused, and nothing else is ever thrown", () => {
    const der = derOf(RSA);
    const outcomes = new Set<string>();
    for (const index of der.keys()) {
      for (const value of [0x00, 0x30, 0x7f, 0x80, 0xff])
        outcomes.add(outcome(pemOf(der.with(index, value))));
    }
    expect(outcomes).toContain("secret_malformed");
    expect(outcomes).toContain(outcome(RSA));
  });
});
