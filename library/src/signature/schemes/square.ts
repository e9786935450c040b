import { jsonObject, textField } from "../../json.js";
import { textTime } from "../event-time.js";
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
import { signedUrl } from "../signed-url.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "x-square-hmacsha256-signature";

/** Square, which signs the notification URL as it was configured, followed by the body. */
export const SQUARE: DescribedScheme = {
  name: "square",
  title: "Square",
  secret: "the subscription's signature key",
  evidence: {
    kind: "published_example",
    where: "developer.squareup.com, Verify and validate an event notification; square 46.0.0 agrees",
  },
  covers: { body: true, url: true, time: false },
  headers: [SIGNATURE_HEADER],
  identity: { id: "body `event_id`", type: "body `type`", time: "body `created_at`" },
  toleranceS: undefined,
  retryHorizonS: 86_400,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Square, with the subscription's signature key. Behind a proxy, set `publicUrl` to the
 * notification URL.
 *
 * @example
 * const verifier = square({ secrets: "…", publicUrl: "https://example.com/hooks/square" });
 */
export function square(options: VerifierOptions): Verifier {
  return createProviderVerifier(SQUARE, options, textKey("hmac_sha256"));
}

function read(request: SignedRequest, verifier: Verifier): Reading {
  const form = { header: SIGNATURE_HEADER, encoding: "base64" } as const;
  const signatures = [readSignature(request.headers, form)];
  const content = [signedUrl(request, verifier), request.body];
  return { claims: [{ algorithm: "hmac_sha256", content, signatures }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: textField(json, "event_id"),
      type: textField(json, "type"),
      time: textTime(textField(json, "created_at")),
    },
  ];
}
