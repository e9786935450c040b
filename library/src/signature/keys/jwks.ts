import { decodeBase64 } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import { textTime, unixTime } from "../event-time.js";
import { Key } from "./key.js";
import type { KeySet } from "./key.js";
import { Period } from "./key-period.js";
import type { SignatureErrorCode } from "../signature-errors.js";

type Jwk = Readonly<Record<string, unknown>>;

/**
 * The Ed25519 keys of a JWKS document, named by their `kid`. What the document says of a key holds: its `use`, `key_ops` and
 * `alg`, whether it is `revoked`, and when it counts (`nbf` or `not_before`, `exp` or `not_after`). Other fields, and keys of
 * other kinds, are passed over, so that a sender may publish more than it uses here; a document without any usable key throws.
 */
export function keySetFromJwks(document: unknown): KeySet {
  const listed = isRecord(document) && Array.isArray(document["keys"]) ? document["keys"] : undefined;
  if (listed === undefined) throw malformed('is not an object with a "keys" array');
  const keys = listed.filter(isVerifyingKey).map((jwk, index) => toKey(jwk, index));
  if (keys.length === 0) throw malformed("holds no Ed25519 key for checking signatures that is not revoked");
  return { keys };
}

function isRecord(value: unknown): value is Jwk {
  return typeof value === "object" && value !== null;
}

function isVerifyingKey(jwk: unknown): jwk is Jwk {
  if (!isRecord(jwk) || jwk["kty"] !== "OKP" || jwk["crv"] !== "Ed25519") return false;
  const { use = "sig", alg = "EdDSA", key_ops: operations = ["verify"], revoked } = jwk;
  // The reason may stand in place of `true`; only what clearly says "no" is none.
  if (revoked !== undefined && revoked !== null && revoked !== false) return false;
  if (!Array.isArray(operations) || !operations.includes("verify")) return false;
  return use === "sig" && (alg === "EdDSA" || alg === "Ed25519");
}

function toKey(jwk: Jwk, index: number): Key {
  const name = typeof jwk["kid"] === "string" ? jwk["kid"] : `key ${index + 1}`;
  const bytes = typeof jwk["x"] === "string" ? decodeBase64(jwk["x"]) : undefined;
  if (bytes?.length !== 32) throw malformed(`has the key "${name}", whose "x" is not 32 bytes in base64url`);
  return new Key("ed25519", name, bytes, periodOf(jwk, name));
}

function periodOf(jwk: Jwk, name: string): Period | undefined {
  const starts = instants(jwk, name, ["nbf", "not_before"]);
  const ends = instants(jwk, name, ["exp", "not_after"]);
  if (starts.length === 0 && ends.length === 0) return undefined;
  // At the very moment of its end, a key counts no more.
  return new Period(Math.max(-Infinity, ...starts), Math.min(Infinity, ...ends) - 1);
}

function instants(jwk: Jwk, name: string, fields: readonly string[]): readonly number[] {
  const given = fields.filter((field) => jwk[field] !== undefined);
  return given.map((field) => {
    const time = instant(jwk[field]);
    // A limit that cannot be read must not be none.
    if (time !== undefined) return time.getTime();
    throw malformed(
      `has the key "${name}", whose "${field}" is neither unix seconds nor a date such as 2026-01-31T12:00:00Z`,
    );
  });
}

function instant(value: unknown): Date | undefined {
  if (typeof value !== "string") return unixTime(value);
  // `new Date` reads "12/31/2026" as well, by this machine's own zone.
  return /^\d{4}-\d\d-\d\dT/.test(value) ? textTime(value) : undefined;
}

function malformed(found: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("secret_malformed", `The JWKS document ${found}.`);
}
