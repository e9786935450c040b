import { decodeBase64, equalBytes } from "../../bytes.js";
import { derElement } from "../encoding/der.js";
import { ED25519_SPKI } from "../encoding/ed25519-der.js";
import { P256_SPKI } from "../encoding/p256-der.js";
import { isStrongRsa } from "./certificate.js";
import { Key } from "./key.js";
import { malformedSecret } from "./secret.js";

/** How an RSA key signs: its bytes do not say it, and a signature counts under one of the two only. */
export type RsaAlgorithm = "rsapss_sha512" | "rsa_sha256";

const LINES = /-----(?:BEGIN|END) PUBLIC KEY-----|[ \t\r\n]/g;

/**
 * A public key in PEM, or the base64 between its lines: Ed25519, ECDSA on P-256, or RSA of 2048 bits and more. The key itself
 * decides the algorithm, never the request.
 */
export function parsePublicKey(secret: string, name: string, rsa: RsaAlgorithm): Key {
  const cure = 'Expected a public key, from "-----BEGIN PUBLIC KEY-----" on: Ed25519, P-256 or RSA.';
  if (/PRIVATE KEY-----/.test(secret)) throw malformedSecret(name, "is a private key", cure);
  const der = decodeBase64(secret.replaceAll(LINES, ""));
  if (der === undefined) throw malformedSecret(name, "is not PEM or base64", cure);
  if (isAfter(der, ED25519_SPKI, 32)) return new Key("ed25519", name, der.slice(ED25519_SPKI.length));
  if (isAfter(der, P256_SPKI, 64)) return new Key("ecdsa_p256_sha256", name, der);
  const whole = derElement(der, 0, der.length);
  if (whole?.end === der.length && isStrongRsa(der, whole)) return new Key(rsa, name, der);
  throw malformedSecret(name, "is a key of another kind, or a short one", cure);
}

function isAfter(der: Uint8Array, start: Uint8Array, bytes: number): boolean {
  return der.length === start.length + bytes && equalBytes(der.subarray(0, start.length), start);
}
