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
import { parseTimestamp } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const HEADER = "paddle-signature";

/** Paddle Billing. */
export const PADDLE: DescribedScheme = {
  name: "paddle",
  title: "Paddle",
  secret: 'the notification destination\'s secret key, "pdl_ntfset_…"',
  evidence: { kind: "official_library", name: "@paddle/paddle-node-sdk", version: "3.10.0" },
  covers: { body: true, url: false, time: true },
  headers: [HEADER],
  // `notification_id` names the delivery: a replay from the dashboard has a new one.
  identity: { id: "body `event_id`", type: "body `event_type`", time: "body `occurred_at`" },
  // What Paddle's own library allows, and that only backwards; a clock that is off needs `toleranceS`.
  toleranceS: 5,
  // Live accounts: 60 attempts in three days. A sandbox gives up after 3.
  retryHorizonS: 259_200,
  // A replay is a new notification, with a `notification_id` of its own, of the same event.
  bodyVaries: true,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Paddle. During a rotation Paddle signs with both secrets, and either matches.
 *
 * @example
 * const verifier = paddle({ secrets: "pdl_ntfset_01h…" });
 */
export function paddle(options: VerifierOptions): Verifier {
  return createProviderVerifier(PADDLE, options, textKey("hmac_sha256"));
}

function read(request: SignedRequest): Reading {
  const { time, signatures } = readTagged(request.headers, {
    header: HEADER,
    encoding: "hex",
    separator: ";",
    time: "ts",
    signature: "h1",
  });
  return {
    claims: claims({ algorithm: "hmac_sha256", content: [`${time}:`, request.body], signatures }),
    signedAtS: parseTimestamp(time, HEADER),
  };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: textField(json, "event_id"),
      type: textField(json, "event_type"),
      time: textTime(textField(json, "occurred_at")),
    },
  ];
}
