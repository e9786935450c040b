import type { Event } from "../event.js";
import { jsonObject, textField } from "../json.js";
import { textTime } from "./event-time.js";
import { findHeader } from "./headers/headers.js";
import type { EventIdentity, Verified } from "./scheme.js";

/** Names the events of a verified request: one for most providers, many for those that send batches. */
export function readEvents(
  verified: Verified,
  source: string = verified.verifier.scheme.name,
): readonly Event[] {
  const { scheme } = verified.verifier;
  const identities = scheme.identify === undefined ? identifyStandard(verified) : scheme.identify(verified);
  return identities.map((identity) => ({
    id: identity.id,
    source,
    type: identity.type ?? "unknown",
    time: identity.time,
    stamp: verified.stamp,
    body: identity.body ?? verified.request.body,
  }));
}

/**
 * As Standard Webhooks says it: the id in a header, type and time in the body. It stands here and not in
 * the scheme, so that a bundle that only verifies reads no JSON.
 */
function identifyStandard({ request, stamp }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: findHeader(request.headers, "webhook-id") ?? findHeader(request.headers, "svix-id"),
      type: textField(json, "type"),
      time: stamp?.time ?? textTime(textField(json, "timestamp")),
    },
  ];
}
