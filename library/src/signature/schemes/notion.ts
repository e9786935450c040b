import type { DescribedScheme, Verifier } from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";
import { describeHmac } from "./described-hmac.js";

/** Notion. The first request of a subscription brings its verification token, which is the secret from then on: read it from
 * the gateway's rejected requests or from a log of your own, and confirm it in Notion's settings. */
export const NOTION: DescribedScheme = /* @__PURE__ */ describeHmac(
  {
    name: "notion",
    title: "Notion",
    header: "x-notion-signature",
    encoding: "hex",
    prefix: "sha256=",
    id: { json: "/id" },
    type: { json: "/type" },
    time: { json: "/timestamp" },
    // Eight more attempts within a day.
    retryHorizonS: 86_400,
  },
  {
    secret: 'the subscription\'s verification token, "secret_…", which its first request brings',
    evidence: { kind: "official_library", name: "@notionhq/client", version: "5.26.0" },
    // A later attempt counts itself in `attempt_number`.
    bodyVaries: true,
  },
);

/**
 * Verifies Notion.
 *
 * @example
 * const verifier = notion({ secrets: process.env.NOTION_VERIFICATION_TOKEN });
 */
export function notion(options: VerifierOptions): Verifier {
  return createProviderVerifier(NOTION, options, textKey("hmac_sha256"));
}
