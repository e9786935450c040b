import { field, jsonObject, textField } from "../../json.js";
import { textTime, unixTime } from "../event-time.js";
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

const SIGNATURE_HEADER = "x-vercel-signature";

/** Vercel: account webhooks with their own secret, integration webhooks with the integration's client secret. */
export const VERCEL: DescribedScheme = {
  name: "vercel",
  title: "Vercel",
  secret: "the webhook's secret, or the integration's client secret",
  evidence: {
    kind: "unconfirmed",
    why: "Vercel publishes the rule (HMAC-SHA1 over the raw body), but no library that checks it and no example with its secret",
  },
  covers: { body: true, url: false, time: false },
  headers: [SIGNATURE_HEADER],
  identity: { id: "body `id`", type: "body `type`", time: "body `createdAt`" },
  toleranceS: undefined,
  // By memory of its documentation: up to a day.
  retryHorizonS: 86_400,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Vercel. The MAC is SHA-1, as Vercel has it; no attack on SHA-1 reaches an HMAC made of it.
 *
 * @example
 * const verifier = vercel({ secrets: process.env.VERCEL_WEBHOOK_SECRET });
 */
export function vercel(options: VerifierOptions): Verifier {
  return createProviderVerifier(VERCEL, options, textKey("hmac_sha1"));
}

function read({ headers, body }: SignedRequest): Reading {
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "hex" })];
  return { claims: [{ algorithm: "hmac_sha1", content: [body], signatures }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: textField(json, "id"),
      type: textField(json, "type"),
      time: unixTime(field(json, "createdAt"), "ms") ?? textTime(textField(json, "createdAt")),
    },
  ];
}
