import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** Cal.com. A body that was written by a custom template names no event. */
export const CAL_COM: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "cal_com",
    title: "Cal.com",
    header: "x-cal-signature-256",
    encoding: "hex",
    type: { json: "/triggerEvent" },
    time: { json: "/createdAt" },
    // A request that failed is not repeated.
    retryHorizonS: 0,
  },
  {
    secret: "the secret that you gave the webhook",
    evidence: {
      kind: "published_example",
      where: "calcom/cal.com, packages/features/webhooks/lib/sendPayload.ts, run over the vector",
    },
  },
);

/**
 * Verifies Cal.com.
 *
 * @example
 * const verifier = calCom({ secrets: process.env.CAL_WEBHOOK_SECRET });
 */
export function calCom(options: VerifierOptions): Verifier {
  return createProviderVerifier(CAL_COM, options, textKey("hmac_sha256"));
}
