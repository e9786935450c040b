import type { Event, Verified } from "posthorn";
import { readEvents, verifySync } from "posthorn";
import type { LiveSource } from "./live-source.js";
import type { ReceivedRequest } from "./received-request.js";

/** Proves where a request comes from, unless its source is one that nobody signs. Throws a PosthornError. */
export function verifiedRequest(live: LiveSource, request: ReceivedRequest): Verified {
  return live.unverified ? unverified(live, request) : verifySync(live.verifier, request);
}

/** The events of a request that was let in. */
export function eventsOf({ record }: LiveSource, verified: Verified): readonly Event[] {
  return readEvents(verified, record.name);
}

function unverified({ verifier }: LiveSource, request: ReceivedRequest): Verified {
  return {
    verifier,
    request,
    key: "none",
    keyIndex: -1,
    // Only handshakes look at it, and a scheme that verifies nothing has none.
    match: undefined as never,
    signedAt: undefined,
    stamp: undefined,
  };
}

/**
 * The request under its absolute URL. Without `publicUrl`, the name by which the provider called us is the best guess; a
 * wrong one is only ever refused.
 */
export function withOrigin(request: ReceivedRequest, protocol: "http" | "https"): ReceivedRequest {
  const host = request.headers["host"];
  return { ...request, url: `${protocol}://${typeof host === "string" ? host : "localhost"}${request.url}` };
}
