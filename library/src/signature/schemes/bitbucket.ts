import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** Bitbucket Cloud. It signs as GitHub does, under the header of GitHub's older SHA-1. */
export const BITBUCKET: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "bitbucket",
    title: "Bitbucket",
    header: "x-hub-signature",
    encoding: "hex",
    prefix: "sha256=",
    // No id: X-Request-UUID names the request, and a second attempt is another one.
    type: { header: "x-event-key" },
    // Two more attempts, minutes apart.
    retryHorizonS: 600,
  },
  {
    secret: "the secret that you gave the webhook",
    evidence: {
      kind: "published_example",
      where: "support.atlassian.com, Bitbucket Cloud, Manage webhooks",
    },
    // A branch that is deleted and made again at the same commit, or pushed back and forth, brings a push of the same bytes.
    bodiesRecur: true,
  },
);

/**
 * Verifies Bitbucket Cloud.
 *
 * @example
 * const verifier = bitbucket({ secrets: process.env.BITBUCKET_WEBHOOK_SECRET });
 */
export function bitbucket(options: VerifierOptions): Verifier {
  return createProviderVerifier(BITBUCKET, options, textKey("hmac_sha256"));
}
