import type { Period } from "./key-period.js";

/**
 * What a key can prove. A signature is only ever checked by a key of its own algorithm, so that a
 * public key can never be used as an HMAC secret, whatever the request's headers say.
 */
export type Algorithm =
  | "hmac_sha256"
  | "hmac_sha1"
  | "ed25519"
  | "ed25519_private"
  | "rsa_sha256"
  | "rsapss_sha512"
  | "ecdsa_p256_sha256"
  | "plain_token"
  /** No key at all: a hash that a signed part of the request names. */
  | "sha256"
  | "sha512";

/** A secret or public key bound to its algorithm. Its material is reachable by code but not by logs. */
export class Key {
  readonly name: string;
  readonly algorithm: Algorithm;
  /** Undefined for a key that counts at all times. */
  readonly period: Period | undefined;
  readonly #material: Uint8Array<ArrayBuffer>;

  constructor(algorithm: Algorithm, name: string, material: Uint8Array<ArrayBuffer>, period?: Period) {
    this.algorithm = algorithm;
    this.name = name;
    this.#material = material;
    this.period = period;
  }

  /**
   * The raw bytes: HMAC secret, token, 32-byte Ed25519 public key, 32-byte Ed25519 seed, or the DER
   * SubjectPublicKeyInfo of an RSA or P-256 key.
   */
  material(): Uint8Array<ArrayBuffer> {
    return this.#material;
  }
}

/** Keys that are active at the same time: during a rotation, the old and the new. */
export interface KeySet {
  readonly keys: readonly Key[];
}

/** What a scheme can tell of the key that a request needs, before anything is proved. Treat it as hostile. */
export interface KeyHint {
  /** A certificate address or key id that the request names, already held to the provider's own host or form. */
  readonly name?: string;
}

/** Keys as values, or brought by a promise (a JWKS document, a provider's certificate). */
export type KeySource = KeySet | ((hint: KeyHint) => Promise<KeySet>);
