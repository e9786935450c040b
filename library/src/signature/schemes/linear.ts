import { field, jsonObject, textField } from "../../json.js";
import type { JsonObject } from "../../json.js";
import { PosthornError } from "../../posthorn-error.js";
import { textTime } from "../event-time.js";
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
import type { SignatureErrorCode } from "../signature-errors.js";
import { readSignature } from "../headers/signature-header.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "linear-signature";
const ID_HEADER = "linear-delivery";

/**
 * Linear. Only the body is signed, and the time of the attempt stands in it; the `Linear-Timestamp` header
 * says the same and is never read, because anybody can write it.
 */
export const LINEAR: DescribedScheme = {
  name: "linear",
  title: "Linear",
  secret: 'the webhook\'s signing secret, "lin_wh_…"',
  evidence: { kind: "official_library", name: "@linear/sdk", version: "98.0.0" },
  covers: { body: true, url: false, time: true, id: false },
  headers: [SIGNATURE_HEADER, ID_HEADER],
  identity: {
    id: "header `Linear-Delivery`",
    type: "body `type`, then `.` and its `action`",
    time: "body `createdAt`",
  },
  toleranceS: 60,
  // Three more attempts, after 1 minute, 1 hour and 6 hours.
  retryHorizonS: 25_260,
  // `webhookTimestamp` is that of the attempt.
  bodyVaries: true,
  batch: false,
  // Any other status counts as a failure, 204 included.
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Linear. An event's type is that of its data with what happened to it: `Issue.update`.
 *
 * @example
 * const verifier = linear({ secrets: "lin_wh_…" });
 */
export function linear(options: VerifierOptions): Verifier {
  return createProviderVerifier(LINEAR, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "hex" })];
  return {
    claims: [{ algorithm: "hmac_sha256", content: [body], signatures }],
    signedAtS: sentAtS(jsonObject(body)),
  };
}

/** The time of the attempt in whole seconds. Linear's own library refuses bodies without one, and so do we. */
function sentAtS(json: JsonObject | undefined): number {
  const sentAtMs = field(json, "webhookTimestamp");
  if (sentAtMs === undefined) {
    throw new PosthornError<SignatureErrorCode>(
      "body_malformed",
      "The body is not a JSON object with a `webhookTimestamp`, as every request of Linear's has one.",
    );
  }
  if (Number.isSafeInteger(sentAtMs) && (sentAtMs as number) > 0)
    return Math.floor((sentAtMs as number) / 1000);
  throw new PosthornError<SignatureErrorCode>(
    "timestamp_malformed",
    "The body's `webhookTimestamp` must be a whole number of unix milliseconds.",
    { detail: { found: typeof sentAtMs === "number" ? sentAtMs : typeof sentAtMs } },
  );
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  const type = textField(json, "type");
  const action = textField(json, "action");
  return [
    {
      id: findHeader(request.headers, ID_HEADER),
      type: type === undefined || action === undefined ? type : `${type}.${action}`,
      time: textTime(textField(json, "createdAt")),
    },
  ];
}
