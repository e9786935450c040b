import { jsonObject, objectField, textField } from "../../json.js";
import { findHeader } from "../headers/headers.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { readSignature } from "../headers/signature-header.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "x-signature";
const TYPE_HEADER = "x-event-name";

/** Lemon Squeezy, with the webhook's signing secret. */
export const LEMON_SQUEEZY: DescribedScheme = {
  name: "lemon_squeezy",
  title: "Lemon Squeezy",
  secret: "the webhook's signing secret",
  evidence: {
    kind: "published_example",
    where: "lmsqueezy/nextjs-billing, src/app/api/webhook/route.ts, run over the vector",
  },
  covers: { body: true, url: false, time: false },
  headers: [SIGNATURE_HEADER, TYPE_HEADER],
  identity: {
    id: "none: the body's hash tells events apart",
    type: "body `meta.event_name`, or header `X-Event-Name`",
    time: undefined,
  },
  toleranceS: undefined,
  // Three more attempts: after 5, 25 and 125 seconds.
  retryHorizonS: 155,
  batch: false,
  // Any other status counts as a failure, 204 included.
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Lemon Squeezy.
 *
 * @example
 * const verifier = lemonSqueezy({ secrets: process.env.LEMON_SQUEEZY_SIGNING_SECRET });
 */
export function lemonSqueezy(options: VerifierOptions): Verifier {
  return createProviderVerifier(LEMON_SQUEEZY, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "hex" })];
  return { claims: [{ algorithm: "hmac_sha256", content: [body], signatures }] };
}

// `data.id` names the order or subscription, which has many events, and `meta.webhook_id` is documented
// nowhere: if it named the endpoint, the second event would be dropped as a duplicate of the first.
function identify({ request }: Verified): readonly EventIdentity[] {
  const meta = objectField(jsonObject(request.body), "meta");
  return [{ type: textField(meta, "event_name") ?? findHeader(request.headers, TYPE_HEADER) }];
}
