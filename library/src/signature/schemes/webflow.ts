import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** Webflow. Its time is in milliseconds. */
export const WEBFLOW: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "webflow",
    title: "Webflow",
    header: "x-webflow-signature",
    encoding: "hex",
    content: "{timestamp}:{body}",
    timestampHeader: "x-webflow-timestamp",
    timestampUnit: "ms",
    type: { json: "/triggerType" },
    // Three more attempts, ten minutes apart.
    retryHorizonS: 1800,
  },
  {
    secret: "the webhook's secret key, or the client secret of the app that made the webhook",
    evidence: { kind: "official_library", name: "webflow-api", version: "3.3.4" },
    // `ecomm_inventory_changed` has a quantity and no time: 100, 99 and 100 again. Its header's time is no help: it is that of the
    // attempt, so that each retry would be an event of its own.
    bodiesRecur: true,
  },
);

/**
 * Verifies Webflow.
 *
 * @example
 * const verifier = webflow({ secrets: process.env.WEBFLOW_WEBHOOK_SECRET });
 */
export function webflow(options: VerifierOptions): Verifier {
  return createProviderVerifier(WEBFLOW, options, textKey("hmac_sha256"));
}
