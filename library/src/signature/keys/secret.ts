import { generateEd25519 } from "#crypto";
import { concat, decodeBase64, encodeBase64, utf8 } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import { Key } from "./key.js";
import type { Algorithm } from "./key.js";
import type { SignatureErrorCode } from "../signature-errors.js";

const SECRET_PREFIX = "whsec_";
const SIGNING_PREFIX = "whsk_";
const PUBLIC_PREFIX = "whpk_";
const MIN_SECRET_BYTES = 24;

/** How the text of an HMAC secret stands for its bytes. */
export type SecretEncoding = "base64" | "utf8";

/**
 * Parses a Standard Webhooks secret. The prefix decides the algorithm, never the request:
 * `whsec_` or none is HMAC-SHA256, `whpk_` an Ed25519 public key, `whsk_` an Ed25519 signing key.
 */
export function parseStandardSecret(secret: string, name: string, encoding: SecretEncoding = "base64"): Key {
  if (secret.startsWith(PUBLIC_PREFIX))
    return new Key("ed25519", name, keyBytes(secret, PUBLIC_PREFIX, name));
  if (secret.startsWith(SIGNING_PREFIX)) {
    return new Key("ed25519_private", name, keyBytes(secret, SIGNING_PREFIX, name));
  }
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  // "WHPK_" and what follows is url-safe base64 as well: a public key would become a secret that all know.
  if (/^wh(sec|sk|pk)_/i.test(text)) {
    throw malformed(name, "has a prefix too many, or in capitals");
  }
  // Senders that use their secret as text use all of it, prefix included.
  const bytes = encoding === "utf8" ? utf8(secret) : decodeBase64(text);
  if (bytes === undefined) {
    throw malformed(name, "is not base64");
  }
  if (bytes.length < MIN_SECRET_BYTES) {
    throw malformed(name, `has ${bytes.length} bytes, fewer than ${MIN_SECRET_BYTES}`);
  }
  return new Key("hmac_sha256", name, bytes);
}

/** A key from the literal text of a secret, as most providers use theirs. */
export function textKey(algorithm: Algorithm): (secret: string, name: string) => Key {
  return (secret, name) => new Key(algorithm, name, utf8(secret));
}

/** A new `whsec_` secret of 32 random bytes. */
export function generateSecret(): string {
  return SECRET_PREFIX + encodeBase64(crypto.getRandomValues(new Uint8Array(32)));
}

/** A new Ed25519 pair: `whsk_` (seed and public key) stays with the sender, `whpk_` goes to receivers. */
export async function generateKeyPair(): Promise<{ signingKey: string; publicKey: string }> {
  const { seed, publicKey } = await generateEd25519();
  return {
    signingKey: SIGNING_PREFIX + encodeBase64(concat([seed, publicKey])),
    publicKey: PUBLIC_PREFIX + encodeBase64(publicKey),
  };
}

// whpk_ holds 32 bytes; whsk_ holds the 32-byte seed, alone or followed by the public key.
function keyBytes(secret: string, prefix: string, name: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(secret.slice(prefix.length));
  const lengths = prefix === SIGNING_PREFIX ? [32, 64] : [32];
  if (bytes !== undefined && lengths.includes(bytes.length)) return bytes.slice(0, 32);
  const found = bytes === undefined ? "no base64" : `${bytes.length} bytes`;
  throw malformed(name, `has ${found} after "${prefix}", where ${lengths.join(" or ")} bytes belong`);
}

function malformed(name: string, found: string): PosthornError<SignatureErrorCode> {
  const cure = "Copy it whole, with its prefix once, without spaces or quotes.";
  return new PosthornError("secret_malformed", `${name} ${found}. ${cure}`, { detail: { key: name } });
}
