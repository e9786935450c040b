import { sha256Sync } from "#crypto";
import { encodeHex } from "../bytes.js";
import { canonicalJson } from "../canonical-json.js";
import type { CanonicalRule } from "../canonical-json.js";
import type { IncomingName } from "../event.js";
import { storedIdSync } from "./stored-id.js";

/** How the events of a source are known again. */
export interface NamingRule {
  readonly source: string;
  readonly by: "id" | "content" | "both";
  /** What of a body makes two events the same. Undefined: its exact bytes. */
  readonly content: CanonicalRule | undefined;
  /** Whether a redelivery may bring another body under the same id. */
  readonly bodyVaries: boolean;
}

export interface Naming {
  readonly names: readonly [IncomingName, ...IncomingName[]];
  /** The rule asked for the canonical form, and the body has none. */
  readonly fellBack: boolean;
}

/** The names under which an event may have come before. Where it should have an id and has none, its content names it. */
export function namesOf(rule: NamingRule, id: string | undefined, body: Uint8Array): Naming {
  if (id === undefined || id === "" || rule.by === "content") {
    const { hash, fellBack } = contentHash(rule.content, body);
    return { names: [hashName(rule.source, hash)], fellBack };
  }
  const name = idName(rule.source, id);
  if (rule.by === "id") {
    return { names: [{ name, bodyHash: rule.bodyVaries ? undefined : sha256Sync(body) }], fellBack: false };
  }
  const { hash, fellBack } = contentHash(rule.content, body);
  const bodyHash = rule.bodyVaries ? undefined : hash;
  return { names: [{ name, bodyHash }, hashName(rule.source, hash)], fellBack };
}

interface ContentHash {
  readonly hash: Uint8Array;
  readonly fellBack: boolean;
}

/** SHA-256 of what counts. Where no canonical form can be told, the bytes count: better an event twice than a lost one. */
function contentHash(rule: CanonicalRule | undefined, body: Uint8Array): ContentHash {
  if (rule === undefined) return { hash: sha256Sync(body), fellBack: false };
  const form = canonicalJson(body, rule);
  return { hash: sha256Sync(form ?? body), fellBack: form === undefined };
}

// The words between the slashes keep the kinds apart: an id that looks like a hash is no hash.
/** The name of an event by the id that its sender gave it. */
export function idName(source: string, id: string): string {
  return `${source}/id/${storedIdSync(id).id}`;
}

function hashName(source: string, hash: Uint8Array): IncomingName {
  return { name: `${source}/hash/${encodeHex(hash)}`, bodyHash: undefined };
}
