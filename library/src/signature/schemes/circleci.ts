import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** CircleCI's outbound webhooks. */
export const CIRCLECI: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "circleci",
    title: "CircleCI",
    header: "circleci-signature",
    encoding: "hex",
    prefix: "v1=",
    id: { json: "/id" },
    type: { json: "/type" },
    time: { json: "/happened_at" },
    // Its documentation says that it tries again, and not for how long.
    retryHorizonS: 86_400,
  },
  {
    secret: "the secret token that you gave the webhook",
    evidence: {
      kind: "published_example",
      where: "circleci.com/docs/outbound-webhooks, Webhook payload signature",
    },
  },
);

/**
 * Verifies CircleCI.
 *
 * @example
 * const verifier = circleci({ secrets: process.env.CIRCLECI_WEBHOOK_SECRET });
 */
export function circleci(options: VerifierOptions): Verifier {
  return createProviderVerifier(CIRCLECI, options, textKey("hmac_sha256"));
}
