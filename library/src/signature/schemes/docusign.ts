import { jsonObject, objectField, textField } from "../../json.js";
import { textTime } from "../event-time.js";
import { findHeader } from "../headers/headers.js";
import { readSignature } from "../headers/signature-header.js";
import { textKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, EventIdentity, Reading, SignedRequest, Verifier } from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";

// One header for each active key of the account: ours may be any of them, and requests cannot make us check more than these.
const HEADERS = Array.from({ length: 16 }, (_, index) => `x-docusign-signature-${index + 1}`);
const FIRST = "x-docusign-signature-1";

/**
 * DocuSign Connect, with its JSON messages. It counts attempts in the body (`retryCount`), so that the hash of a retry is another
 * one: named by the hash, an event whose answer was lost would be applied twice.
 */
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
    id: "body `data.envelopeId`, `event`, `data.recipientId` if there is one, and `generatedDateTime`",
    type: "body `event`",
    time: "body `generatedDateTime`",
  },
  toleranceS: undefined,
  // For 15 days.
  retryHorizonS: 1_296_000,
  bodyVaries: true,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify: ({ request }) => [identify(request)],
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

/** Without envelope or time, as in other formats of Connect, nothing names the event but its bytes. */
function identify({ body }: SignedRequest): EventIdentity {
  const json = jsonObject(body);
  const data = objectField(json, "data");
  const [type, generated] = [textField(json, "event"), textField(json, "generatedDateTime")];
  const [envelope, recipient] = [textField(data, "envelopeId"), textField(data, "recipientId")];
  const named = envelope !== undefined && type !== undefined && generated !== undefined;
  return {
    id: named ? [envelope, type, recipient ?? "", generated].join(":") : undefined,
    type,
    time: generated === undefined ? undefined : textTime(generated),
  };
}
