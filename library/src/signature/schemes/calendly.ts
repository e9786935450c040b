import { identityAt } from "../event-places.js";
import { claims, readTagged } from "../headers/signature-header.js";
import { parseTimestamp } from "../headers/timestamp.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, Reading, SignedRequest, Verifier } from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";

const HEADER = "calendly-webhook-signature";
const PLACES = {
  id: undefined,
  type: { pointer: ["event"] },
  time: { pointer: ["created_at"], unit: "iso" },
} as const;

/** Calendly. Its header has the form of Stripe's. */
export const CALENDLY: DescribedScheme = {
  name: "calendly",
  title: "Calendly",
  secret: "the signing key that you gave the webhook subscription",
  evidence: {
    kind: "unconfirmed",
    why: "its documentation describes the signature and shows no example that can be computed",
  },
  covers: { body: true, url: false, time: true },
  headers: [HEADER],
  listHeaders: [HEADER],
  identity: {
    id: "none: the body's hash tells events apart",
    type: "body `event`",
    time: "body `created_at`",
  },
  toleranceS: 180,
  // With growing pauses, for a day.
  retryHorizonS: 86_400,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify: ({ request }) => [identityAt(PLACES, request)],
};

/**
 * Verifies Calendly.
 *
 * @example
 * const verifier = calendly({ secrets: process.env.CALENDLY_WEBHOOK_SIGNING_KEY });
 */
export function calendly(options: VerifierOptions): Verifier {
  return createProviderVerifier(CALENDLY, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const form = { header: HEADER, encoding: "hex", separator: ",", time: "t", signature: "v1" } as const;
  const { time, signatures } = readTagged(headers, form);
  return {
    claims: claims({ algorithm: "hmac_sha256", content: [`${time}.`, body], signatures }),
    signedAtS: parseTimestamp(time, HEADER),
  };
}
