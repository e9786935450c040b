import { concat, equalBytes, utf8 } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import { ED25519_PKCS8 } from "../encoding/ed25519-der.js";
import type { Algorithm, Key } from "../keys/key.js";
import type { Answer, Content, Question } from "./question.js";
import type { SignatureErrorCode } from "../signature-errors.js";

// The `#crypto` of every runtime without node:crypto: WebCrypto, which only promises.

// By the first word of an algorithm's name.
const NAMES: Readonly<Record<string, string>> = {
  hmac: "HMAC",
  ed25519: "Ed25519",
  rsa: "RSASSA-PKCS1-v1_5",
  rsapss: "RSA-PSS",
  ecdsa: "ECDSA",
};

/** What WebCrypto must be told; each of its algorithms passes over what it does not know. */
function parametersOf(algorithm: Algorithm): {
  name: string;
  hash: string;
  namedCurve: string;
  saltLength: number;
} {
  const name = NAMES[algorithm.split("_")[0] as string] as string;
  return { name, hash: hashOf(algorithm), namedCurve: "P-256", saltLength: 64 };
}

/** The hash that an algorithm's name ends in; nothing that Ed25519 would look at. */
function hashOf(algorithm: Algorithm): string {
  return `SHA-${algorithm.split("sha")[1]}`;
}

// Importing a key costs more than using it, so each is imported once.
const imported = new WeakMap<Key, Promise<CryptoKey>>();

/** Finds the signature that the key made. */
export async function answer({ key, content, signatures }: Question): Promise<Answer> {
  switch (key.algorithm) {
    case "plain_token":
      return indexOf(signatures, key.material());
    case "sha256":
    case "sha512":
      return indexOf(signatures, await digest(key.algorithm, concat(content)));
    case "hmac_sha256":
    case "hmac_sha1":
      return indexOf(signatures, await mac(key, content));
    case "ed25519_private":
      return -1;
    case "ed25519":
    case "rsa_sha256":
    case "rsapss_sha512":
    case "ecdsa_p256_sha256":
      return indexOfVerified({ key, content, signatures });
  }
}

async function indexOfVerified({ key, content, signatures }: Question): Promise<Answer> {
  const handle = await importKey(key, "verify");
  const signed = concat(content);
  for (const [index, signature] of signatures.entries()) {
    // workerd throws on a length that cannot be right, and would so let a damaged entry hide a good one.
    if (key.algorithm === "ed25519" && signature.length !== 64) continue;
    const parameters = parametersOf(key.algorithm);
    if (await crypto.subtle.verify(parameters, handle, signature as BufferSource, signed)) return index;
  }
  return -1;
}

/** Makes one signature. */
export async function produce(key: Key, content: Content): Promise<Uint8Array> {
  if (key.algorithm !== "ed25519_private") return mac(key, content);
  const seed = concat([ED25519_PKCS8, key.material()]);
  const handle = await crypto.subtle.importKey("pkcs8", seed, "Ed25519", false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("Ed25519", handle, concat(content)));
}

async function mac(key: Key, content: Content): Promise<Uint8Array> {
  const handle = await importKey(key, "sign");
  return new Uint8Array(await crypto.subtle.sign("HMAC", handle, concat(content)));
}

function importKey(key: Key, use: "sign" | "verify"): Promise<CryptoKey> {
  let handle = imported.get(key);
  if (handle === undefined) {
    const parameters = parametersOf(key.algorithm);
    const format = /^(rsa|ecdsa)/.test(key.algorithm) ? "spki" : "raw";
    handle = crypto.subtle.importKey(format, key.material(), parameters, false, [use]);
    imported.set(key, handle);
  }
  return handle;
}

/** Refuses: WebCrypto has no synchronous form. */
export function answerSync(_question: Question): Answer {
  throw noSync();
}

/** Refuses: WebCrypto has no synchronous form. */
export function produceSync(_key: Key, _content: Content): Uint8Array {
  throw noSync();
}

/** The SHA-256 of some bytes, or of a text in UTF-8. */
export function sha256(content: string | Uint8Array): Promise<Uint8Array> {
  const bytes = typeof content === "string" ? utf8(content) : content;
  return digest("sha256", bytes);
}

async function digest(algorithm: Algorithm, bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest(hashOf(algorithm), bytes as BufferSource));
}

/** Refuses: WebCrypto has no synchronous form. */
export function sha256Sync(_content: string | Uint8Array): Uint8Array {
  throw noSync();
}

/** A new Ed25519 key pair, as raw bytes. */
export async function generateEd25519(): Promise<{ seed: Uint8Array; publicKey: Uint8Array }> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  return {
    seed: pkcs8.slice(-32),
    publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)),
  };
}

function noSync(): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "sync_unavailable",
    "This runtime has no synchronous cryptography: await verify() or sign().",
  );
}

function indexOf(signatures: readonly Uint8Array[], wanted: Uint8Array): Answer {
  return signatures.findIndex((signature) => equalBytes(signature, wanted));
}
