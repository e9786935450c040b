import { decodeHex } from "../../bytes.js";
import { field, jsonObject, objectField, textField } from "../../json.js";
import type { JsonObject } from "../../json.js";
import { PosthornError } from "../../posthorn-error.js";
import { unixTime } from "../event-time.js";
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
import { claims } from "../headers/signature-header.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

/**
 * Mailgun's JSON webhooks. Only a time and a random token are signed: whoever has one request can put any
 * event beside its signature until the tolerance ends, and `verify` cannot tell. So the token is the id:
 * whoever remembers ids with their bodies, as the inbox does, sees the second body as a conflict.
 */
export const MAILGUN: DescribedScheme = {
  name: "mailgun",
  title: "Mailgun",
  secret: "the account's HTTP webhook signing key, which is not its API key",
  evidence: {
    kind: "published_example",
    where: "mailgun/mailgun-php, tests/Api/WebhookTest.php: time, token, signature and key",
  },
  covers: { body: false, url: false, time: true },
  headers: [],
  identity: {
    id: "body `signature.token`",
    type: "body `event-data.event`",
    time: "body `event-data.timestamp`",
  },
  // Integrators report that a later attempt repeats the first one's signature; Mailgun does not say. Five minutes would
  // then refuse every later attempt. If Mailgun signed anew, a later attempt would be another event to us: compare
  // `event-data.id` where that matters.
  toleranceS: 29_100,
  // After 5, 10 and 15 minutes, then 1, 2 and 4 hours.
  retryHorizonS: 28_800,
  batch: false,
  replies: { success: { status: 200 }, stopEvent: { status: 406 } },
  read,
  identify,
};

/**
 * Verifies Mailgun, with the account's webhook signing key; a parent account's key verifies the events of
 * its subaccounts as well.
 *
 * @example
 * const verifier = mailgun({ secrets: process.env.MAILGUN_WEBHOOK_SIGNING_KEY });
 */
export function mailgun(options: VerifierOptions): Verifier {
  return createProviderVerifier(MAILGUN, options, textKey("hmac_sha256"));
}

function read({ body }: SignedRequest): Reading {
  const signed = objectField(jsonObject(body), "signature");
  const time = timeOf(signed);
  const token = textField(signed, "token");
  const signature = textField(signed, "signature");
  if (token === undefined || token.length > 256 || signature === undefined || time === undefined) {
    throw new PosthornError<SignatureErrorCode>(
      "body_malformed",
      "The body is not a JSON object with `signature.timestamp`, `signature.token` and `signature.signature`. " +
        "Only Mailgun's JSON webhooks are read; routes and webhooks of before 2018 post forms.",
    );
  }
  return {
    claims: claims({
      algorithm: "hmac_sha256",
      content: [time, token],
      signatures: signaturesOf([signature, textField(signed, "parent-signature")]),
    }),
    signedAtS: secondsOf(time),
  };
}

/** The time as it is signed: Mailgun sends a text, and its documentation says a number. */
function timeOf(signed: JsonObject | undefined): string | undefined {
  const value = field(signed, "timestamp");
  return Number.isSafeInteger(value) ? String(value) : textField(signed, "timestamp");
}

function secondsOf(time: string): number {
  if (/^[1-9]\d{0,10}$/.test(time)) return Number(time);
  throw new PosthornError<SignatureErrorCode>(
    "timestamp_malformed",
    "The body's `signature.timestamp` must be a whole number of unix seconds.",
    { detail: { found: time.slice(0, 32) } },
  );
}

function signaturesOf(texts: readonly (string | undefined)[]): readonly Uint8Array[] {
  const signatures = texts.map((text) => (text === undefined ? undefined : decodeHex(text)));
  return signatures.filter((signature) => signature !== undefined && signature.length > 0) as Uint8Array[];
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  const event = objectField(json, "event-data");
  return [
    {
      id: textField(objectField(json, "signature"), "token"),
      type: textField(event, "event"),
      time: unixTime(field(event, "timestamp")),
    },
  ];
}
