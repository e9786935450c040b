import { sha256Sync } from "#crypto";
import { encodeHex } from "../../bytes.js";
import { canonicalJson } from "../../canonical-json.js";
import type { CanonicalRule } from "../../canonical-json.js";
import type { IncomingName } from "../../event.js";
import { nameOfId } from "../../incoming-name.js";
import { storedIdSync } from "./stored-id.js";

/** How the events of a source are known again. */
export interface NamingRule {
  readonly source: string;
  readonly by: "id" | "content" | "both";
  /** What of a body makes two events the same. Undefined: its exact bytes. */
  readonly content: CanonicalRule | undefined;
  /** Whether a redelivery may bring another body under the same id. */
  readonly bodyVaries: boolean;
  /** Whether an event without an id may come again with the same bytes, as a new one. @default false */
  readonly bodiesRecur?: boolean;
}

export interface Naming {
  readonly names: readonly [IncomingName, ...IncomingName[]];
  /** The rule asked for the canonical form, and the body has none. */
  readonly fellBack: boolean;
}

/** The names under which an event may have come before. Where it should have an id and has none, its content names it. */
export function namesOf(rule: NamingRule, id: string | undefined, body: Uint8Array): Naming {
  const named = namingId(rule, id);
  if (named !== undefined && rule.by === "id" && rule.bodyVaries)
    return { names: [{ name: idName(rule.source, named), bodyHash: undefined }], fellBack: false };
  const { content, fellBack } = contentOf(rule, body);
  const storedId = named === undefined ? undefined : storedIdSync(named).id;
  return { names: namesBy(rule, storedId, sha256Sync(content)), fellBack };
}

/** The id that names an event; undefined where its content does. */
export function namingId({ by }: Pick<NamingRule, "by">, id: string | undefined): string | undefined {
  return id === "" || by === "content" ? undefined : id;
}

/** What of a body is hashed. */
export interface Content {
  readonly content: string | Uint8Array;
  readonly fellBack: boolean;
}

/** What of a body counts. Where no canonical form can be told, the bytes count: better an event twice than a lost one. */
export function contentOf({ content: rule }: Pick<NamingRule, "content">, body: Uint8Array): Content {
  if (rule === undefined) return { content: body, fellBack: false };
  const form = canonicalJson(body, rule);
  return { content: form ?? body, fellBack: form === undefined };
}

/** The names of an event by its id in its stored form, where an id names it, and by the hash of what of it counts. */
export function namesBy(
  rule: NamingRule,
  storedId: string | undefined,
  hash: Uint8Array,
): readonly [IncomingName, ...IncomingName[]] {
  if (storedId === undefined) return [hashName(rule, hash)];
  const known = { name: nameOfId(rule.source, storedId), bodyHash: rule.bodyVaries ? undefined : hash };
  return rule.by === "both" ? [known, hashName(rule, hash)] : [known];
}

/** The name of an event by the id that its sender gave it. */
export function idName(source: string, id: string): string {
  return nameOfId(source, storedIdSync(id).id);
}

function hashName({ source, bodiesRecur = false }: NamingRule, hash: Uint8Array): IncomingName {
  const name = `${source}/hash/${encodeHex(hash)}`;
  // A quantity that changes to and fro would otherwise start its window again for ever, and never be a new event.
  return { name, bodyHash: undefined, ...(bodiesRecur && { renews: false }) };
}
