import type { Clock, Verified, Verifier } from "posthorn";
import { checkHeaders, verifySync } from "posthorn";
import { contentRule, ForwardedHeaders, parsePlace } from "posthorn/gateway";
import type { NamingRule, Place } from "posthorn/gateway";
import type { SourceRecord } from "../store/source.js";
import type { ReceivedRequest } from "./received-request.js";
import { sourceAddress } from "./source-address.js";
import { UNVERIFIED } from "./source-schemes.js";
import { sourceVerifier } from "./source-verifier.js";

/** A source ready for requests: whatever is the same for all of them is computed once. */
export interface LiveSource {
  readonly record: SourceRecord;
  readonly verifier: Verifier;
  /** Nobody signs its requests. */
  readonly unverified: boolean;
  /** Its signatures cover the absolute URL, and no option says what that is. */
  readonly needsOrigin: boolean;
  readonly naming: NamingRule;
  readonly key: Place | undefined;
  readonly forwarded: ForwardedHeaders;
}

/** `publicUrl` is the server's setting. Throws `source_invalid` when this version cannot use a source of the registry. */
export function liveSource(
  record: SourceRecord,
  clock: Pick<Clock, "now">,
  publicUrl: string | undefined,
): LiveSource {
  const verifier = sourceVerifier(record, clock, sourceAddress(record.name, publicUrl));
  const { scheme } = verifier;
  return {
    record,
    verifier,
    unverified: record.scheme === UNVERIFIED,
    needsOrigin: scheme.covers.url && verifier.publicUrl === undefined,
    naming: {
      source: record.name,
      by: record.dedup.by,
      content: contentRule(record.dedup),
      bodyVaries: scheme.bodyVaries === true,
      bodiesRecur: scheme.bodiesRecur === true,
    },
    key: parsePlace(record.key),
    forwarded: new ForwardedHeaders(record.forwardHeaders),
  };
}

/** Verifies a request, unless nobody signs the requests of its source. Throws a PosthornError. */
export function verifiedRequest({ unverified, verifier }: LiveSource, request: ReceivedRequest): Verified {
  if (!unverified) return verifySync(verifier, request);
  // A source without signatures reads ids and types from headers too: two of them must not become one joined id.
  checkHeaders(verifier.scheme, request);
  return {
    verifier,
    request,
    key: "none",
    keyIndex: -1,
    // Only handshakes read it, and the scheme `none` has no handshake.
    match: undefined as never,
    signedAt: undefined,
    stamp: undefined,
  };
}
