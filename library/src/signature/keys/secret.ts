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
const COPY_WHOLE = "Copy it whole, without spaces or quotes.";

/** How the text of an HMAC secret stands for its bytes. */
export type SecretEncoding = "base64" | "utf8";

/**
 * Parses a secret or key that verifies Standard Webhooks. The prefix decides the algorithm, never the request: `whsec_` or
 * none is HMAC-SHA256, `whpk_` an Ed25519 public key.
 */
export function parseVerifyingSecret(secret: string, name: string, encoding: SecretEncoding = "base64"): Key {
  if (secret.startsWith(PUBLIC_PREFIX)) {
    const bytes = decodeBase64(secret.slice(PUBLIC_PREFIX.length));
    if (bytes?.length === 32) return new Key("ed25519", name, bytes);
    throw malformedSecret(name, `does not hold 32 bytes in base64 after "${PUBLIC_PREFIX}"`);
  }
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  // "WHPK_" and what follows is url-safe base64 as well: a public key would become a secret that all know. So is an API
  // key of Stripe's.
  if (/^(wh(sec|sk|pk)|[srp]k_(live|test))_/i.test(text)) {
    throw malformedSecret(name, 'has another prefix than one "whsec_" or "whpk_"');
  }
  // Senders that use their secret as text use all of it, prefix included.
  const bytes = encoding === "utf8" ? utf8(secret) : decodeBase64(text);
  if (bytes === undefined) {
    throw malformedSecret(name, "is not base64");
  }
  if (bytes.length < MIN_SECRET_BYTES) {
    throw malformedSecret(name, `has ${bytes.length} bytes, fewer than ${MIN_SECRET_BYTES}`);
  }
  return new Key("hmac_sha256", name, bytes);
}

/** The same for those who sign, whose Ed25519 key is `whsk_`: the seed, alone or followed by the public key. */
export function parseStandardSecret(secret: string, name: string, encoding?: SecretEncoding): Key {
  if (!secret.startsWith(SIGNING_PREFIX)) return parseVerifyingSecret(secret, name, encoding);
  const bytes = decodeBase64(secret.slice(SIGNING_PREFIX.length));
  if (bytes?.length === 32 || bytes?.length === 64)
    return new Key("ed25519_private", name, bytes.slice(0, 32));
  throw malformedSecret(name, `does not hold 32 or 64 bytes in base64 after "${SIGNING_PREFIX}"`);
}

/** A key from the literal text of a secret, as most providers use theirs. */
export function textKey(algorithm: Algorithm): (secret: string, name: string) => Key {
  return (secret, name) => new Key(algorithm, name, utf8(secret));
}

/** A key from a token that is sent as it is. */
export function tokenKey(secret: string, name: string): Key {
  // HTTP drops spaces around a value and has no agreed encoding for the rest: such a token never matches.
  if (/^[\x20-\x7e]+$/.test(secret) && secret.trim() === secret)
    return new Key("plain_token", name, utf8(secret));
  const found = "has characters that no header can carry unchanged";
  throw malformedSecret(name, found, "Set a token of visible ASCII.");
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

/** The error for a secret or key that cannot be what its scheme prescribes; its text is never shown. */
export function malformedSecret(
  name: string,
  found: string,
  cure: string = COPY_WHOLE,
): PosthornError<SignatureErrorCode> {
  return new PosthornError("secret_malformed", `${name} ${found}. ${cure}`, { detail: { key: name } });
}
