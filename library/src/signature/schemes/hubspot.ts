import { elements, jsonObject, numberText, textField } from "../../json.js";
import { unixTime } from "../event-time.js";
import { needHeader } from "../headers/headers.js";
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
import { parseTimestampMs } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "x-hubspot-signature-v3";
const TIME_HEADER = "x-hubspot-request-timestamp";

/** HubSpot by its third signature: the first two sign no time, and their hash is no HMAC. */
export const HUBSPOT: DescribedScheme = {
  name: "hubspot",
  title: "HubSpot (v3)",
  secret: "the app's client secret",
  evidence: { kind: "official_library", name: "@hubspot/api-client", version: "13.5.0" },
  covers: { body: true, url: true, time: true },
  headers: [SIGNATURE_HEADER, TIME_HEADER],
  identity: {
    id: "`portalId:subscriptionId:eventId:objectId:fromObjectId:toObjectId:occurredAt` of each element, then `:` and its `propertyName` if there is one",
    type: "`subscriptionType` of each element",
    time: "`occurredAt` of each element",
  },
  toleranceS: 300,
  // Ten more attempts spread over a day.
  retryHorizonS: 86_400,
  // `attemptNumber` counts up.
  bodyVaries: true,
  batch: true,
  // HubSpot keeps the Retry-After of a 429.
  replies: { success: { status: 200 }, slowDown: { status: 429 } },
  read,
  identify,
};

/**
 * Verifies HubSpot, with the app's client secret. Behind a proxy set `publicUrl`: the URL is signed.
 *
 * @example
 * const verifier = hubspot({ secrets: process.env.HUBSPOT_CLIENT_SECRET, publicUrl: "https://example.com" });
 */
export function hubspot(options: VerifierOptions): Verifier {
  return createProviderVerifier(HUBSPOT, options, textKey("hmac_sha256"));
}

function read(request: SignedRequest, verifier: Verifier): Reading {
  const { headers, body, method = "POST" } = request;
  const timestamp = needHeader(headers, TIME_HEADER);
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "base64" })];
  const content = [method, unescaped(signedUrl(request, verifier)), body, timestamp];
  return {
    claims: [{ algorithm: "hmac_sha256", content, signatures }],
    signedAtS: parseTimestampMs(timestamp, TIME_HEADER),
  };
}

/** HubSpot signs the URL with these twelve characters unescaped: `: / ? @ ! $ ' ( ) * , ;`. */
function unescaped(url: string): string {
  return url.replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, decodeURIComponent);
}

/** The numbers of a notification that stay when it is sent again; its `attemptNumber` does not. */
export const IDENTITY: readonly string[] = [
  "portalId",
  "subscriptionId",
  "eventId",
  "objectId",
  "fromObjectId",
  "toObjectId",
  "occurredAt",
];

function identify({ request }: Verified): readonly EventIdentity[] {
  return (elements(request.body) ?? [request.body]).map((body) => ({
    id: idOf(body),
    type: textField(jsonObject(body), "subscriptionType"),
    time: unixTime(Number(numberText(body, "occurredAt") ?? Number.NaN), "ms"),
    body,
  }));
}

// HubSpot does not promise that `eventId` is unique: two properties that change at once may share all numbers. Numbers and
// colons cannot run into each other, and the name comes last, so that two notifications share an id only if they agree in
// every field.
function idOf(element: Uint8Array): string | undefined {
  if (numberText(element, "eventId") === undefined) return undefined;
  const parts = IDENTITY.map((name) => numberText(element, name) ?? "");
  const property = textField(jsonObject(element), "propertyName");
  return [...parts, ...(property === undefined ? [] : [property])].join(":");
}
