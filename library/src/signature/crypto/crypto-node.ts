import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import type { KeyObject } from "node:crypto";
import { concat, equalBytes } from "../../bytes.js";
import { ED25519_PKCS8, ED25519_SPKI } from "../encoding/ed25519-der.js";
import { hmac, oneShot } from "./hmac-node.js";
import type { Key } from "../keys/key.js";
import type { Answer, Content, Question } from "./question.js";

// The `#crypto` of Node, Bun and Deno: synchronous, so that `verifySync` exists here.

// Parsing a public key costs more than a verification, so each is parsed once.
const parsed = new WeakMap<Key, KeyObject>();

/** Finds the signature that the key made. */
export function answerSync(question: Question): Answer {
  const { key, content, signatures } = question;
  switch (key.algorithm) {
    case "hmac_sha256":
    case "hmac_sha1":
      return indexOfMac(hmac(key, content), signatures);
    case "plain_token":
      return signatures.findIndex((signature) => equalBytes(signature, key.material()));
    case "sha256":
      return indexOfMac(sha256Sync(concat(content)), signatures);
    case "sha512":
      return indexOfMac(createHash("sha512").update(concat(content)).digest(), signatures);
    case "ed25519":
    case "rsa_sha256":
    case "rsapss_sha512":
    case "ecdsa_p256_sha256":
      return indexOfVerified(question);
    case "ed25519_private":
      return -1;
  }
}

function indexOfVerified({ key, content, signatures }: Question): Answer {
  const signed = concat(content);
  const isPss = key.algorithm === "rsapss_sha512";
  const hash = key.algorithm === "ed25519" ? null : isPss ? "sha512" : "sha256";
  // r and s side by side, as WebCrypto takes them; of no meaning to the other algorithms.
  const options = { key: publicKey(key), dsaEncoding: "ieee-p1363" } as const;
  const padded = isPss ? { ...options, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 } : options;
  return signatures.findIndex((signature) => verify(hash, signed, padded, signature));
}

/** The same as a promise, for code that must also run where cryptography is asynchronous. */
export function answer(question: Question): Promise<Answer> {
  // Not Promise.resolve: a key that cannot be parsed must reject, not throw at the caller.
  return new Promise((resolve) => resolve(answerSync(question)));
}

/** Makes one signature. */
export function produceSync(key: Key, content: Content): Uint8Array {
  return key.algorithm === "ed25519_private"
    ? sign(null, concat(content), privateKey(key))
    : hmac(key, content);
}

/** The same as a promise. */
export function produce(key: Key, content: Content): Promise<Uint8Array> {
  return new Promise((resolve) => resolve(produceSync(key, content)));
}

/** The SHA-256 of some bytes, or of a text in UTF-8. */
export function sha256Sync(content: string | Uint8Array): Uint8Array {
  // The stream object of createHash costs four times what hashing a short body does.
  return oneShot === undefined
    ? createHash("sha256").update(content).digest()
    : Buffer.from(oneShot("sha256", content, "binary"), "latin1");
}

/** The same as a promise. */
export function sha256(content: string | Uint8Array): Promise<Uint8Array> {
  return Promise.resolve(sha256Sync(content));
}

/** A new Ed25519 key pair, as raw bytes. */
export function generateEd25519(): Promise<{ seed: Uint8Array; publicKey: Uint8Array }> {
  const pair = generateKeyPairSync("ed25519");
  const seed = pair.privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  return Promise.resolve({
    seed,
    publicKey: pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32),
  });
}

function indexOfMac(mac: Uint8Array, signatures: readonly Uint8Array[]): Answer {
  // timingSafeEqual throws on unequal lengths, and the length of a digest is no secret.
  return signatures.findIndex(
    (signature) => signature.length === mac.length && timingSafeEqual(signature, mac),
  );
}

function publicKey(key: Key): KeyObject {
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const der = key.algorithm === "ed25519" ? concat([ED25519_SPKI, key.material()]) : key.material();
  const object = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  parsed.set(key, object);
  return object;
}

function privateKey(key: Key): KeyObject {
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const der = Buffer.from(concat([ED25519_PKCS8, key.material()]));
  const object = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  parsed.set(key, object);
  return object;
}
