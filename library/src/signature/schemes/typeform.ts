import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** Typeform. Its prefix is that of GitHub, its encoding is base64. */
export const TYPEFORM: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "typeform",
    title: "Typeform",
    header: "typeform-signature",
    encoding: "base64",
    prefix: "sha256=",
    id: { json: "/event_id" },
    type: { json: "/event_type" },
    time: { json: "/form_response/submitted_at" },
    // Every few minutes, for ten hours.
    retryHorizonS: 36_000,
  },
  {
    secret: "the secret that you gave the webhook",
    evidence: {
      kind: "unconfirmed",
      why: "its documentation describes the signature and shows no example that can be computed",
    },
  },
);

/**
 * Verifies Typeform.
 *
 * @example
 * const verifier = typeform({ secrets: process.env.TYPEFORM_WEBHOOK_SECRET });
 */
export function typeform(options: VerifierOptions): Verifier {
  return createProviderVerifier(TYPEFORM, options, textKey("hmac_sha256"));
}
