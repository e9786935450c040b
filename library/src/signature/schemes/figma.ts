import { utf8 } from "../../bytes.js";
import { jsonObject, textField } from "../../json.js";
import { PosthornError } from "../../posthorn-error.js";
import { identityAt } from "../event-places.js";
import { tokenKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, Reading, Reply, SignedRequest, Verified, Verifier } from "../scheme.js";
import type { SignatureErrorCode } from "../signature-errors.js";
import type { VerifierOptions } from "../verifier.js";

const PLACES = {
  id: undefined,
  type: { pointer: ["event_type"] },
  time: { pointer: ["timestamp"], unit: "iso" },
} as const;

/**
 * Figma. It signs nothing: the body itself carries the passcode, which proves only that the sender knows it. It names no event
 * and counts attempts in the body (`retries`), so that the bytes of a retry are others: named by them, an event whose answer was
 * lost would be applied twice. All other fields name it, because the parts of one LIBRARY_PUBLISH share webhook, file and second.
 */
export const FIGMA: DescribedScheme = {
  name: "figma",
  title: "Figma",
  secret: "the passcode that you gave the webhook",
  evidence: {
    kind: "published_example",
    where: "developers.figma.com, Webhooks V2, Types, PING; nothing is computed",
  },
  covers: { body: false, url: false, time: false, id: false },
  headers: [],
  identity: {
    id: "none: the hash of the body without `retries` tells events apart",
    type: "body `event_type`",
    time: "body `timestamp`",
  },
  toleranceS: undefined,
  // Three more attempts: after 5 minutes, 30 minutes and 3 hours.
  retryHorizonS: 12_900,
  dedup: { by: "content", content: "json", exclude: ["/retries"] },
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify: ({ request }) => [identityAt(PLACES, request)],
  handshake,
};

/**
 * Verifies Figma by its passcode.
 *
 * @example
 * const verifier = figma({ secrets: process.env.FIGMA_PASSCODE });
 */
export function figma(options: VerifierOptions): Verifier {
  return createProviderVerifier(FIGMA, options, tokenKey);
}

function read({ body }: SignedRequest): Reading {
  const passcode = textField(jsonObject(body), "passcode");
  if (passcode === undefined) {
    throw new PosthornError<SignatureErrorCode>(
      "body_malformed",
      'The body has no text "passcode": is it a webhook of Figma?',
    );
  }
  return { claims: [{ algorithm: "plain_token", content: [], signatures: [utf8(passcode)] }] };
}

/** A ping is sent when a webhook is made, and is about nothing but the webhook itself. */
function handshake({ request }: Verified): Reply | undefined {
  return textField(jsonObject(request.body), "event_type") === "PING" ? { status: 200 } : undefined;
}
