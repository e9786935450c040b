import { decodeBase64, equalBytes } from "../../bytes.js";
import { DER, derElement, derElements } from "../encoding/der.js";
import type { DerElement } from "../encoding/der.js";
import { Key } from "./key.js";
import type { KeySet } from "./key.js";
import { Period } from "./key-period.js";
import { malformedSecret } from "./secret.js";

// No chain is followed and no name is compared: a certificate counts because the caller handed it in, or
// fetched it by TLS from the provider's own host. What is read here is its key and when that counts.

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";
// A chain of a few certificates has some 8 kB.
const MAX_PEM_LENGTH = 65_536;
// SEQUENCE { OBJECT IDENTIFIER rsaEncryption, NULL }
const RSA = Uint8Array.of(0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0);
const MIN_MODULUS_BYTES = 256;

/**
 * The RSA key of an X.509 certificate in PEM, with the time of its validity. Of several certificates only
 * the first is read, the signer's own: the others are its issuers, and must not sign in its place.
 */
export function keySetFromCertificate(pem: string, name = "certificate"): KeySet {
  return { keys: [keyFromCertificate(pem, name)] };
}

/** The same as one key. */
export function keyFromCertificate(pem: string, name: string): Key {
  const der = decodePem(pem, name);
  const fields = tbsFields(der);
  const spki = fields?.spki;
  if (fields === undefined || spki === undefined) {
    throw malformedSecret(name, "is PEM, but not an X.509 certificate", "Was it cut short?");
  }
  const period = readPeriod(der, fields.validity);
  if (period === undefined) throw malformedSecret(name, "has no readable validity", "Ask for a new one.");
  if (!isStrongRsa(der, spki)) {
    const cure = "Expected an RSA key of 2048 bits or more.";
    throw malformedSecret(name, "holds a key of another kind, or a short one", cure);
  }
  return new Key("rsa_sha256", name, der.slice(spki.start, spki.end), period);
}

function decodePem(pem: unknown, name: string): Uint8Array<ArrayBuffer> {
  const cure = `Hand in the text from "${BEGIN}" to "${END}".`;
  if (typeof pem !== "string") throw malformedSecret(name, `is of type ${typeof pem}`, cure);
  if (pem.length > MAX_PEM_LENGTH) throw malformedSecret(name, `has ${pem.length} characters`, cure);
  const start = pem.indexOf(BEGIN);
  const end = pem.indexOf(END, start + BEGIN.length);
  if (start < 0 || end < 0) throw malformedSecret(name, "is not a certificate in PEM", cure);
  const der = decodeBase64(pem.slice(start + BEGIN.length, end).replaceAll(/[ \t\r\n]/g, ""));
  if (der === undefined || der.length === 0)
    throw malformedSecret(name, "is not base64 between its lines", cure);
  return der;
}

/** Certificate → tbsCertificate → [version], serial, algorithm, issuer, validity, subject, key. */
function tbsFields(der: Uint8Array): { validity: DerElement; spki: DerElement | undefined } | undefined {
  const certificate = derElement(der, 0, der.length);
  if (certificate?.tag !== DER.sequence || certificate.end !== der.length) return undefined;
  const [tbs] = derElements(der, certificate) ?? [];
  const fields = tbs?.tag === DER.sequence ? derElements(der, tbs) : undefined;
  // Version 1 leaves the version out.
  const skipped = fields?.[0]?.tag === DER.version ? 1 : 0;
  const validity = fields?.[skipped + 3];
  return validity === undefined ? undefined : { validity, spki: fields?.[skipped + 5] };
}

function readPeriod(der: Uint8Array, validity: DerElement): Period | undefined {
  const times = validity.tag === DER.sequence ? derElements(der, validity) : undefined;
  const [fromMs, untilMs] = times?.length === 2 ? times.map((time) => readTime(der, time)) : [];
  return fromMs === undefined || untilMs === undefined ? undefined : new Period(fromMs, untilMs);
}

/** RFC 5280: seconds and "Z" are always there; two digits of a year mean 1950 to 2049. */
function readTime(der: Uint8Array, { tag, content, end }: DerElement): number | undefined {
  const text = String.fromCharCode(...der.subarray(content, Math.min(end, content + 16)));
  const short = tag === DER.utcTime && /^\d{12}Z$/.test(text);
  if (!short && !(tag === DER.generalizedTime && /^\d{14}Z$/.test(text))) return undefined;
  const full = short ? (text < "5" ? "20" : "19") + text : text;
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Whether it is a SubjectPublicKeyInfo of RSA: another kind of key would be checked by another algorithm. */
export function isStrongRsa(der: Uint8Array, spki: DerElement): boolean {
  const [algorithm, bits, ...rest] = (spki.tag === DER.sequence && derElements(der, spki)) || [];
  if (algorithm === undefined || bits?.tag !== DER.bitString || rest.length > 0) return false;
  if (!equalBytes(der.subarray(algorithm.start, algorithm.end), RSA)) return false;
  // The first byte of a bit string counts its unused bits, of which a key has none.
  const key = der[bits.content] === 0 ? derElement(der, bits.content + 1, bits.end) : undefined;
  if (key?.tag !== DER.sequence || key.end !== bits.end) return false;
  const [modulus, exponent, ...others] = derElements(der, key) ?? [];
  if (modulus?.tag !== DER.integer || exponent?.tag !== DER.integer || others.length > 0) return false;
  const sign = der[modulus.content] === 0 ? 1 : 0;
  return modulus.end - modulus.content - sign >= MIN_MODULUS_BYTES;
}
