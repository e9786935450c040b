import type { Event } from "../event.js";
import type { Verified } from "./scheme.js";

/** Names the events of a verified request: one for most providers, many for those that send batches. */
export function readEvents(
  verified: Verified,
  source: string = verified.verifier.scheme.name,
): readonly Event[] {
  return verified.verifier.scheme.identify(verified).map((identity) => ({
    id: identity.id,
    source,
    type: identity.type ?? "unknown",
    time: identity.time,
    stamp: verified.stamp,
    body: identity.body ?? verified.request.body,
  }));
}
