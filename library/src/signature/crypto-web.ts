import { concat, equalBytes } from "../bytes.js";
import { PosthornError } from "../posthorn-error.js";
import { ED25519_PKCS8 } from "./ed25519-der.js";
import type { Algorithm, Key } from "./key.js";
import type { Answer, Content, Question } from "./question.js";
import type { SignatureErrorCode } from "./signature-errors.js";

// The `#crypto` of every runtime without node:crypto: WebCrypto, which only promises.

interface Recipe {
  readonly format: "raw" | "spki" | "pkcs8";
  readonly parameters: { readonly name: string; readonly hash?: string; readonly namedCurve?: string };
  readonly use: "sign" | "verify";
}

type KeyedAlgorithm = Exclude<Algorithm, "plain_token" | "sha256">;

const RECIPES: Readonly<Record<KeyedAlgorithm, Recipe>> = {
  hmac_sha256: { format: "raw", parameters: { name: "HMAC", hash: "SHA-256" }, use: "sign" },
  hmac_sha1: { format: "raw", parameters: { name: "HMAC", hash: "SHA-1" }, use: "sign" },
  ed25519: { format: "raw", parameters: { name: "Ed25519" }, use: "verify" },
  ed25519_private: { format: "pkcs8", parameters: { name: "Ed25519" }, use: "sign" },
  rsa_sha256: { format: "spki", parameters: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, use: "verify" },
  ecdsa_p256_sha256: {
    format: "spki",
    parameters: { name: "ECDSA", hash: "SHA-256", namedCurve: "P-256" },
    use: "verify",
  },
};

const imported = new WeakMap<Key, Promise<CryptoKey>>();

/** Finds the signature that the key made. */
export async function answer(question: Question): Promise<Answer> {
  const { key, content, signatures } = question;
  if (key.algorithm === "plain_token") return indexOf(signatures, key.material());
  if (key.algorithm === "sha256") return indexOf(signatures, await sha256(concat(content)));
  const recipe = RECIPES[key.algorithm];
  if (recipe.use === "sign") {
    return key.algorithm === "ed25519_private" ? -1 : indexOf(signatures, await produce(key, content));
  }
  const handle = await importKey(key, recipe);
  const signed = concat(content);
  for (const [index, signature] of signatures.entries()) {
    if (await crypto.subtle.verify(recipe.parameters, handle, signature as BufferSource, signed))
      return index;
  }
  return -1;
}

/** Makes one signature. */
export async function produce(key: Key, content: Content): Promise<Uint8Array> {
  const recipe = RECIPES[key.algorithm as KeyedAlgorithm];
  const handle = await importKey(key, recipe);
  return new Uint8Array(await crypto.subtle.sign(recipe.parameters.name, handle, concat(content)));
}

/** Refuses: WebCrypto has no synchronous form. */
export function answerSync(_question: Question): Answer {
  throw noSync();
}

/** Refuses: WebCrypto has no synchronous form. */
export function produceSync(_key: Key, _content: Content): Uint8Array {
  throw noSync();
}

/** The SHA-256 of some bytes. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
}

/** Refuses: WebCrypto has no synchronous form. */
export function sha256Sync(_bytes: Uint8Array): Uint8Array {
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

function importKey(key: Key, recipe: Recipe): Promise<CryptoKey> {
  let handle = imported.get(key);
  if (handle === undefined) {
    const raw = recipe.format === "pkcs8" ? concat([ED25519_PKCS8, key.material()]) : key.material();
    handle = crypto.subtle.importKey(recipe.format, raw, recipe.parameters, false, [recipe.use]);
    imported.set(key, handle);
  }
  return handle;
}
