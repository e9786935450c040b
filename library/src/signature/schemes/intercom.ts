import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** Intercom. It signs by HMAC-SHA1, with the app's client secret. */
export const INTERCOM: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "intercom",
    title: "Intercom",
    header: "x-hub-signature",
    algorithm: "sha1",
    encoding: "hex",
    prefix: "sha1=",
    id: { json: "/id" },
    type: { json: "/topic" },
    time: { json: "/created_at", unit: "s" },
    // One more attempt, after a minute.
    retryHorizonS: 60,
  },
  {
    secret: "the app's client secret",
    evidence: {
      kind: "published_example",
      where: "intercom-archive/intercom-webhooks, node/index.js, run over the vector",
    },
    // A later attempt counts itself in `delivery_attempts`.
    bodyVaries: true,
  },
);

/**
 * Verifies Intercom.
 *
 * @example
 * const verifier = intercom({ secrets: process.env.INTERCOM_CLIENT_SECRET });
 */
export function intercom(options: VerifierOptions): Verifier {
  return createProviderVerifier(INTERCOM, options, textKey("hmac_sha1"));
}
