import { jsonObject, textField } from "../../json.js";
import { findHeader } from "../headers/headers.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { readSignature } from "../headers/signature-header.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "sentry-hook-signature";
const TYPE_HEADER = "sentry-hook-resource";

/**
 * Sentry's integration platform. Its JavaScript example hashes JSON that was parsed and written again;
 * what Sentry signs are the bytes it sends, and those are what counts here.
 */
export const SENTRY: DescribedScheme = {
  name: "sentry",
  title: "Sentry",
  secret: "the integration's client secret",
  evidence: {
    kind: "published_example",
    where: "getsentry/integration-platform-example, verify_sentry_signature.py, run over the vector",
  },
  covers: { body: true, url: false, time: false },
  headers: [SIGNATURE_HEADER, TYPE_HEADER],
  identity: {
    id: "none: the body's hash tells events apart",
    type: "header `Sentry-Hook-Resource`, then `.` and the body's `action`",
    time: undefined,
  },
  toleranceS: undefined,
  // Three more attempts, five minutes apart.
  retryHorizonS: 900,
  // An issue that is resolved, opened and resolved again, without an error in between, is the same body twice.
  bodiesRecur: true,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Sentry, with the integration's client secret. An event's type is its resource with what
 * happened to it: `issue.created`.
 *
 * @example
 * const verifier = sentry({ secrets: process.env.SENTRY_CLIENT_SECRET });
 */
export function sentry(options: VerifierOptions): Verifier {
  return createProviderVerifier(SENTRY, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "hex" })];
  return { claims: [{ algorithm: "hmac_sha256", content: [body], signatures }] };
}

// `Request-ID` is no id: Sentry draws a new one for every attempt, so that a repeated event would pass as new.
function identify({ request }: Verified): readonly EventIdentity[] {
  const resource = findHeader(request.headers, TYPE_HEADER);
  const action = textField(jsonObject(request.body), "action");
  return [{ type: resource === undefined || action === undefined ? resource : `${resource}.${action}` }];
}
