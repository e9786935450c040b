import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { canonicalJson } from "./canonical-json.js";
import type { CanonicalRule } from "./canonical-json.js";

/** What of a body makes two events the same. Undefined: its exact bytes. */
export type ContentRule = CanonicalRule | undefined;

export interface ContentHash {
  readonly hash: Uint8Array;
  /** It was asked for by a canonical form that the body does not have, so that its exact bytes count. */
  readonly fellBack: boolean;
}

/** SHA-256 of what counts. Where that cannot be told, the bytes count: better an event twice than one that is lost. */
export function contentHash(rule: ContentRule, body: Uint8Array): ContentHash {
  if (rule === undefined) return { hash: sha256(body), fellBack: false };
  const form = canonicalJson(body, rule);
  return { hash: sha256(form ?? body), fellBack: form === undefined };
}

// By way of a text: a buffer that the native side makes takes longer than the hash of a small body.
export function sha256(content: string | Uint8Array): Uint8Array {
  return Buffer.from(hash("sha256", content, "binary"), "latin1");
}
