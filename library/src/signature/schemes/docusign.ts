import { identityAt } from "../event-places.js";
import { findHeader } from "../headers/headers.js";
import { readSignature } from "../headers/signature-header.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, Reading, SignedRequest, Verifier } from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";

// One header for each active key of the account; whoever rotates has two.
const HEADERS = [1, 2, 3, 4, 5].map((number) => `x-docusign-signature-${number}`);
const FIRST = "x-docusign-signature-1";
const PLACES = {
  id: undefined,
  type: { pointer: ["event"] },
  time: { pointer: ["generatedDateTime"], unit: "iso" },
} as const;

/** DocuSign Connect, with its JSON messages. It counts attempts in the body, so that a later one has another hash. */
export const DOCUSIGN: DescribedScheme = {
  name: "docusign",
  title: "DocuSign Connect",
  secret: "the account's HMAC key of Connect Keys",
  evidence: {
    kind: "published_example",
    where: "docusign/code-examples-node, lib/connect/examples/validateWebhookMessage.js, run over the vector",
  },
  covers: { body: true, url: false, time: false },
  headers: HEADERS,
  identity: {
    id: "none: the body's hash tells events apart",
    type: "body `event`",
    time: "body `generatedDateTime`",
  },
  toleranceS: undefined,
  // For 15 days.
  retryHorizonS: 1_296_000,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify: ({ request }) => [identityAt(PLACES, request)],
};

/**
 * Verifies DocuSign Connect.
 *
 * @example
 * const verifier = docusign({ secrets: process.env.DOCUSIGN_CONNECT_KEY });
 */
export function docusign(options: VerifierOptions): Verifier {
  return createProviderVerifier(DOCUSIGN, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const present = HEADERS.filter((header) => header === FIRST || findHeader(headers, header) !== undefined);
  const signatures = present.map((header) => readSignature(headers, { header, encoding: "base64" }));
  return { claims: [{ algorithm: "hmac_sha256", content: [body], signatures }] };
}
