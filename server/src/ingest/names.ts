import { Buffer } from "node:buffer";
import type { IncomingName } from "posthorn";
import { contentHash, sha256 } from "./content-hash.js";
import type { ContentRule } from "./content-hash.js";

/** How the events of a source are known again. */
export interface NamingRule {
  readonly source: string;
  readonly by: "id" | "content" | "both";
  readonly content: ContentRule;
  /** Whether a redelivery may bring another body under the same id. */
  readonly bodyVaries: boolean;
}

export interface Naming {
  readonly names: readonly [IncomingName, ...IncomingName[]];
  /** The canonical form was asked for, and the body has none. */
  readonly fellBack: boolean;
}

/** The names under which an event may have come before. Where it should have an id and has none, its bytes name it. */
export function namesOf(rule: NamingRule, id: string | undefined, body: Uint8Array): Naming {
  if (id === undefined || id === "" || rule.by === "content") {
    const { hash, fellBack } = contentHash(rule.content, body);
    return { names: [hashName(rule.source, hash)], fellBack };
  }
  const name = idName(rule.source, id);
  if (rule.by === "id") {
    return { names: [{ name, bodyHash: rule.bodyVaries ? undefined : sha256(body) }], fellBack: false };
  }
  const { hash, fellBack } = contentHash(rule.content, body);
  const bodyHash = rule.bodyVaries ? undefined : hash;
  return { names: [{ name, bodyHash }, hashName(rule.source, hash)], fellBack };
}

const MAX_ID_CHARACTERS = 180;
const VISIBLE = /^[\x21-\x7e]+$/;

// The words between the slashes keep the kinds apart: an id that looks like a hash is none.
function idName(source: string, id: string): string {
  if (id.length <= MAX_ID_CHARACTERS && VISIBLE.test(id)) return `${source}/id/${id}`;
  // As UTF-16: in UTF-8, every half of a surrogate pair would be the same replacement character.
  return `${source}/id-hash/${hex(sha256(Buffer.from(id, "utf16le")))}`;
}

function hashName(source: string, hash: Uint8Array): IncomingName {
  return { name: `${source}/hash/${hex(hash)}`, bodyHash: undefined };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
