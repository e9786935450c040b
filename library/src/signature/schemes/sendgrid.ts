import { decodeBase64, equalBytes } from "../../bytes.js";
import { elements, field, jsonObject, textField } from "../../json.js";
import { joinEcdsa } from "../encoding/ecdsa-der.js";
import { P256_SPKI } from "../encoding/p256-der.js";
import { unixTime } from "../event-time.js";
import { needHeader } from "../headers/headers.js";
import { Key } from "../keys/key.js";
import { malformedSecret } from "../keys/secret.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { readSignature } from "../headers/signature-header.js";
import { parseTimestamp, refuseLeadingDigit } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const TIME_HEADER = "x-twilio-email-event-webhook-timestamp";
const SIGNATURE_HEADER = "x-twilio-email-event-webhook-signature";

/** SendGrid's signed event webhook: many events in one request. */
export const SENDGRID: DescribedScheme = {
  name: "sendgrid",
  title: "SendGrid",
  secret: "the event webhook's verification key",
  evidence: { kind: "official_library", name: "@sendgrid/eventwebhook", version: "8.0.0" },
  covers: { body: true, url: false, time: true },
  headers: [SIGNATURE_HEADER, TIME_HEADER],
  identity: {
    id: "`sg_event_id` of each element",
    type: "`event` of each element",
    time: "`timestamp` of each element",
  },
  // SendGrid names none, and does not say whether a later attempt gets a new time.
  toleranceS: undefined,
  // It goes on for a day.
  retryHorizonS: 86_400,
  batch: true,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies SendGrid. `secrets` takes the verification key of the event webhook's settings, a public key.
 *
 * @example
 * const verifier = sendgrid({ secrets: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7…" });
 */
export function sendgrid(options: VerifierOptions): Verifier {
  return createProviderVerifier(SENDGRID, options, parsePublicKey);
}

function parsePublicKey(secret: string, name: string): Key {
  const bytes = decodeBase64(secret);
  const start = bytes?.subarray(0, P256_SPKI.length);
  if (bytes?.length === P256_SPKI.length + 64 && start !== undefined && equalBytes(start, P256_SPKI)) {
    return new Key("ecdsa_p256_sha256", name, bytes);
  }
  const found = bytes === undefined ? "is not base64" : "is not a public key on the curve P-256";
  const cure =
    'Expected the "Verification Key" of Mail Settings, Event Webhook: 124 characters, without BEGIN and END lines.';
  throw malformedSecret(name, found, cure);
}

function read({ headers, body }: SignedRequest): Reading {
  const timestamp = needHeader(headers, TIME_HEADER);
  const der = readSignature(headers, { header: SIGNATURE_HEADER, encoding: "base64" });
  // What is no signature at all is judged as one that cannot hold.
  const signatures = [joinEcdsa(der) ?? new Uint8Array(64)];
  refuseLeadingDigit(body);
  return {
    claims: [{ algorithm: "ecdsa_p256_sha256", content: [timestamp, body], signatures }],
    signedAtS: parseTimestamp(timestamp, TIME_HEADER),
  };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  return (elements(request.body) ?? [request.body]).map((body) => {
    const event = jsonObject(body);
    return {
      id: textField(event, "sg_event_id"),
      type: textField(event, "event"),
      time: unixTime(field(event, "timestamp")),
      body,
    };
  });
}
