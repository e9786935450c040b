import { encodeHex } from "../../bytes.js";
import { findHeader } from "../headers/headers.js";
import type { DescribedScheme, EventIdentity, Verified, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

const ID_HEADER = "x-wc-webhook-delivery-id";
const TYPE_HEADER = "x-wc-webhook-topic";

/** WooCommerce. The ping of a new webhook is a form and is not signed: it is refused. */
export const WOOCOMMERCE: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "woocommerce",
    title: "WooCommerce",
    header: "x-wc-webhook-signature",
    encoding: "base64",
    id: { header: ID_HEADER },
    type: { header: TYPE_HEADER },
    // It never tries again; after five failures in a row the webhook is disabled.
    retryHorizonS: 0,
  },
  {
    secret: "the secret that you gave the webhook",
    evidence: {
      kind: "unconfirmed",
      why: "its documentation describes the signature and shows no example that can be computed",
    },
    identity: {
      id: "header `X-WC-Webhook-Delivery-ID`, then `:` and the signature",
      type: "header `X-WC-Webhook-Topic`",
      time: undefined,
    },
    identify: (verified) => [identify(verified)],
  },
);

/**
 * Its delivery id is a hash of the webhook and the second: two orders within one second share it. By the id alone the later
 * one would be a conflict, and lost. The signature is a hash of the body, so both together name one delivery.
 */
function identify({ request: { headers }, match }: Verified): EventIdentity {
  const delivery = findHeader(headers, ID_HEADER);
  return {
    id: delivery === undefined ? undefined : `${delivery}:${encodeHex(match.signature)}`,
    type: findHeader(headers, TYPE_HEADER),
  };
}

/**
 * Verifies WooCommerce.
 *
 * @example
 * const verifier = woocommerce({ secrets: process.env.WOOCOMMERCE_WEBHOOK_SECRET });
 */
export function woocommerce(options: VerifierOptions): Verifier {
  return createProviderVerifier(WOOCOMMERCE, options, textKey("hmac_sha256"));
}
