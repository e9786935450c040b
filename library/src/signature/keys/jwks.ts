import { decodeBase64 } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import { Key } from "./key.js";
import type { KeySet } from "./key.js";
import type { SignatureErrorCode } from "../signature-errors.js";

/**
 * The Ed25519 keys of a JWKS document, named by their `kid`. Keys of other kinds are passed over, so
 * that a sender may publish more than it uses here; a document without any usable key throws.
 */
export function keySetFromJwks(document: unknown): KeySet {
  const listed = isRecord(document) && Array.isArray(document["keys"]) ? document["keys"] : undefined;
  if (listed === undefined) throw malformed('is not an object with a "keys" array');
  const keys = listed.filter(isEd25519).map((jwk, index) => toKey(jwk, index));
  if (keys.length === 0) throw malformed('holds no key with "kty": "OKP" and "crv": "Ed25519" for signing');
  return { keys };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isEd25519(jwk: unknown): jwk is Record<string, unknown> {
  if (!isRecord(jwk) || jwk["kty"] !== "OKP" || jwk["crv"] !== "Ed25519") return false;
  return (
    (jwk["use"] ?? "sig") === "sig" &&
    (jwk["alg"] === undefined || jwk["alg"] === "EdDSA" || jwk["alg"] === "Ed25519")
  );
}

function toKey(jwk: Record<string, unknown>, index: number): Key {
  const name = typeof jwk["kid"] === "string" ? jwk["kid"] : `key ${index + 1}`;
  const bytes = typeof jwk["x"] === "string" ? decodeBase64(jwk["x"]) : undefined;
  if (bytes?.length !== 32) throw malformed(`has the key "${name}", whose "x" is not 32 bytes in base64url`);
  return new Key("ed25519", name, bytes);
}

function malformed(found: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("secret_malformed", `The JWKS document ${found}.`);
}
