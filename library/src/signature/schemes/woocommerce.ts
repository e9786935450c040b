import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** WooCommerce. The ping of a new webhook is a form and is not signed: it is refused. */
export const WOOCOMMERCE: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "woocommerce",
    title: "WooCommerce",
    header: "x-wc-webhook-signature",
    encoding: "base64",
    id: { header: "x-wc-webhook-delivery-id" },
    type: { header: "x-wc-webhook-topic" },
    // It never tries again; after five failures in a row the webhook is disabled.
    retryHorizonS: 0,
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
 * Verifies WooCommerce.
 *
 * @example
 * const verifier = woocommerce({ secrets: process.env.WOOCOMMERCE_WEBHOOK_SECRET });
 */
export function woocommerce(options: VerifierOptions): Verifier {
  return createProviderVerifier(WOOCOMMERCE, options, textKey("hmac_sha256"));
}
