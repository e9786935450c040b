import { decodeBase64, decodeHex } from "../../bytes.js";
import { asObject, field, jsonObject, objectField, textField } from "../../json.js";
import type { JsonObject } from "../../json.js";
import { PosthornError } from "../../posthorn-error.js";
import { textTime } from "../event-time.js";
import { Key } from "../keys/key.js";
import { malformedSecret } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import type { SignatureErrorCode } from "../signature-errors.js";
import type { VerifierOptions } from "../verifier.js";

/**
 * Adyen's standard webhooks. The signature stands in the body and covers eight fields of it: reference, account, amount,
 * event and success. Whoever has one request can change the rest, so the body does not count as covered.
 */
export const ADYEN: DescribedScheme = {
  name: "adyen",
  title: "Adyen (standard webhooks)",
  secret: "the webhook's HMAC key, 64 hexadecimal characters",
  evidence: { kind: "official_library", name: "@adyen/api-library", version: "32.1.0" },
  covers: { body: false, url: false, time: false },
  headers: [],
  identity: {
    id: "body `pspReference`, `eventCode` and `success`, which are signed",
    type: "body `eventCode`",
    time: "body `eventDate`",
  },
  toleranceS: undefined,
  // With growing pauses, then every eight hours for a week.
  retryHorizonS: 662_400,
  // A repeated event may have another eventDate and other additional data.
  bodyVaries: true,
  batch: false,
  replies: { success: { status: 200, headers: { "content-type": "text/plain" }, body: "[accepted]" } },
  read,
  identify,
};

/**
 * Verifies Adyen's standard webhooks, with the HMAC key of the webhook's settings.
 *
 * @example
 * const verifier = adyen({ secrets: process.env.ADYEN_HMAC_KEY });
 */
export function adyen(options: VerifierOptions): Verifier {
  return createProviderVerifier(ADYEN, options, parseKey);
}

function parseKey(secret: string, name: string): Key {
  const bytes = decodeHex(secret);
  if (bytes !== undefined && bytes.length >= 16) return new Key("hmac_sha256", name, bytes);
  const found = bytes === undefined ? "is not hexadecimal" : `has ${bytes.length} bytes`;
  throw malformedSecret(name, found, "Expected the HMAC key that the Customer Area made for the webhook.");
}

/** The one item of a notification. By JSON, Adyen sends one in each request. */
function itemOf(body: Uint8Array): JsonObject | undefined {
  const items = field(jsonObject(body), "notificationItems");
  if (!Array.isArray(items) || items.length !== 1) return undefined;
  return objectField(asObject((items as readonly unknown[])[0]), "NotificationRequestItem");
}

function read({ body }: SignedRequest): Reading {
  const item = itemOf(body);
  if (item === undefined) throw malformed("it must hold exactly one NotificationRequestItem");
  const text = textField(objectField(item, "additionalData"), "hmacSignature");
  const signature = text === undefined ? undefined : decodeBase64(text);
  if (signature === undefined)
    throw malformed("its additionalData.hmacSignature must be a signature in base64");
  const amount = objectField(item, "amount");
  const content = [
    plain(item, "pspReference"),
    plain(item, "originalReference"),
    plain(item, "merchantAccountCode"),
    // Only this one may hold a colon: where two may, characters could move between them under one signature.
    signedText(item, "merchantReference"),
    plain(amount, "value"),
    plain(amount, "currency"),
    plain(item, "eventCode"),
    plain(item, "success"),
  ].join(":");
  return { claims: [{ algorithm: "hmac_sha256", content: [content], signatures: [signature] }] };
}

function plain(object: JsonObject | undefined, name: string): string {
  const text = signedText(object, name);
  if (!text.includes(":")) return text;
  throw malformed(`its ${name} holds a colon, which ends it in the signed content`);
}

/** A field as Adyen signs it: text and whole numbers as they are, nothing where there is none. */
function signedText(object: JsonObject | undefined, name: string): string {
  const value = field(object, name);
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  throw malformed(`its ${name} must be a text or a whole number`);
}

function malformed(why: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("body_malformed", `The body cannot be a notification of Adyen's: ${why}.`);
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const item = itemOf(request.body);
  const reference = textField(item, "pspReference");
  const type = textField(item, "eventCode");
  return [
    {
      // An event may come again with another outcome, which is news.
      id: reference && type && `${reference}:${type}:${textField(item, "success") ?? ""}`,
      type,
      time: textTime(textField(item, "eventDate")),
    },
  ];
}
