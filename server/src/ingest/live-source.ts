import type { Clock, Verifier } from "posthorn";
import type { DedupRule, Place } from "posthorn/client";
import type { SourceRecord } from "../store/source.js";
import { canonicalRule } from "./canonical-json.js";
import type { ContentRule } from "./content-hash.js";
import { ForwardedHeaders } from "./forwarded-headers.js";
import { parsePointer } from "./json-pointer.js";
import type { JsonPointer } from "./json-pointer.js";
import type { NamingRule } from "./names.js";
import type { KeyPlace } from "./ordering-key.js";
import { UNVERIFIED } from "./source-schemes.js";
import { sourceVerifier } from "./source-verifier.js";

/** A source made ready for its requests: everything that is the same for all of them is done once. */
export interface LiveSource {
  readonly record: SourceRecord;
  readonly verifier: Verifier;
  /** Nobody signs its requests. */
  readonly unverified: boolean;
  /** Its signatures cover the absolute URL, and no option says what that is. */
  readonly needsOrigin: boolean;
  readonly naming: NamingRule;
  readonly key: KeyPlace | undefined;
  readonly forwarded: ForwardedHeaders;
}

/** Throws `source_invalid` where a source of the registry cannot be used by this version, or its secrets are not to be had. */
export function liveSource(record: SourceRecord, clock: Pick<Clock, "now">): LiveSource {
  const verifier = sourceVerifier(record, clock);
  const { scheme, publicUrl } = verifier;
  return {
    record,
    verifier,
    unverified: record.scheme === UNVERIFIED,
    needsOrigin: scheme.covers.url && publicUrl === undefined,
    naming: {
      source: record.name,
      by: record.dedup.by,
      content: contentRule(record.dedup),
      bodyVaries: scheme.bodyVaries === true,
    },
    key: record.key && keyPlace(record.key),
    forwarded: new ForwardedHeaders(record.forwardHeaders),
  };
}

function contentRule(dedup: DedupRule): ContentRule {
  if (dedup.by === "id" || dedup.content === "raw") return undefined;
  return canonicalRule(pointers(dedup.include), pointers(dedup.exclude));
}

function pointers(texts: readonly string[] = []): JsonPointer[] {
  return texts.map((text) => parsePointer(text)).filter((pointer) => pointer !== undefined);
}

function keyPlace(place: Place): KeyPlace | undefined {
  if ("header" in place) return place;
  const pointer = parsePointer(place.json);
  return pointer && { pointer };
}
