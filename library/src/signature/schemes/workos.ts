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
import { claims, readTagged } from "../headers/signature-header.js";
import { parseTimestampMs } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const HEADER = "workos-signature";

/** WorkOS. Its time is in milliseconds, where Stripe's header of the same form has seconds. */
export const WORKOS: DescribedScheme = {
  name: "workos",
  title: "WorkOS",
  secret: "the webhook endpoint's signing secret",
  evidence: { kind: "official_library", name: "@workos-inc/node", version: "8.13.0" },
  covers: { body: true, url: false, time: true },
  headers: [HEADER],
  listHeaders: [HEADER],
  identity: { id: "body `id`", type: "body `event`", time: "body `created_at`" },
  toleranceS: 180,
  // By memory of its documentation: six more attempts within three days.
  retryHorizonS: 259_200,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies WorkOS, with the endpoint's signing secret.
 *
 * @example
 * const verifier = workos({ secrets: process.env.WORKOS_WEBHOOK_SECRET });
 */
export function workos(options: VerifierOptions): Verifier {
  return createProviderVerifier(WORKOS, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const { time, signatures } = readTagged(headers, {
    header: HEADER,
    encoding: "hex",
    separator: ",",
    time: "t",
    signature: "v1",
  });
  return {
    claims: claims({ algorithm: "hmac_sha256", content: [`${time}.`, body], signatures }),
    signedAtS: parseTimestampMs(time, HEADER),
  };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: textField(json, "id"),
      type: textField(json, "event"),
      time: textTime(textField(json, "created_at")),
    },
  ];
}
