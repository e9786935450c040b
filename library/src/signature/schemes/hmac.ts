import type { Place } from "../../place.js";
import { identityAt, sayPlaces } from "../event-places.js";
import { malformedHeader, needHeader } from "../headers/headers.js";
import { checkHmacOptions, HMAC_OPTIONS } from "../hmac-options.js";
import type { HmacOptions, HmacPlan, TemplatePart } from "../hmac-options.js";
import type { Content } from "../crypto/question.js";
import type { DescribedScheme, Reading, SignedRequest, Verified, Verifier } from "../scheme.js";
import { readSignature } from "../headers/signature-header.js";
import { signedUrl } from "../signed-url.js";
import { parseTimestamp, parseTimestampMs } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";

/**
 * Verifies a provider that is not in the list, from a description of how it signs.
 *
 * @example
 * const verifier = hmac({
 *   name: "acme",
 *   secrets: "the secret that Acme shows",
 *   header: "x-acme-signature",
 *   encoding: "hex",
 *   content: "{timestamp}.{body}",
 *   timestampHeader: "x-acme-timestamp",
 *   id: { json: "/id" },
 *   type: { json: "/event" },
 *   retryHorizonS: 86_400,
 * });
 */
export function hmac(options: HmacOptions): Verifier {
  const plan = checkHmacOptions(options);
  return createProviderVerifier(schemeOf(plan), options, plan.parseSecret, HMAC_OPTIONS);
}

/** The scheme that a checked description means. */
export function schemeOf(plan: HmacPlan): DescribedScheme {
  return Object.freeze({
    name: plan.name,
    title: plan.title,
    secret: `the secret with which ${plan.title} signs its webhooks`,
    evidence: { kind: "unconfirmed", why: "described by the caller" },
    covers: plan.covers,
    headers: headersOf(plan),
    // An HTTP date contains a comma and a space.
    listHeaders: headerAt(plan.time),
    identity: sayPlaces(plan),
    toleranceS: plan.covers.time ? 300 : undefined,
    retryHorizonS: plan.retryHorizonS,
    batch: false,
    replies: { success: { status: 200 } },
    read: (request: SignedRequest, verifier: Verifier) => read(plan, request, verifier),
    identify: ({ request }: Verified) => [identityAt(plan, request)],
  } satisfies DescribedScheme);
}

function headersOf({ signature, timestamp, id, type, time }: HmacPlan): readonly string[] {
  return [signature.header, ...headerAt(timestamp), ...headerAt(id), ...headerAt(type), ...headerAt(time)];
}

function headerAt(place: Place | undefined): readonly string[] {
  return place !== undefined && "header" in place ? [place.header] : [];
}

function read(plan: HmacPlan, request: SignedRequest, verifier: Verifier): Reading {
  const signatures = [readSignature(request.headers, plan.signature)];
  const { timestamp } = plan;
  const text = timestamp === undefined ? "" : needHeader(request.headers, timestamp.header);
  const content: Content = plan.template.map((part) => fill(part, text, request, verifier));
  const claims = [{ algorithm: plan.algorithm, content, signatures }];
  if (timestamp === undefined) return { claims };
  const parse = timestamp.unit === "ms" ? parseTimestampMs : parseTimestamp;
  return { claims, signedAtS: parse(text, timestamp.header) };
}

function fill(
  part: TemplatePart,
  timestamp: string,
  request: SignedRequest,
  verifier: Verifier,
): string | Uint8Array {
  switch (part.kind) {
    case "literal":
      return part.text;
    case "body":
      return request.body;
    case "timestamp":
      return timestamp;
    case "url":
      return signedUrl(request, verifier);
    case "id":
      return signedId(needHeader(request.headers, part.header), part);
  }
}

// With the mark inside it, an id could take the time's place under the same signature.
function signedId(id: string, part: { readonly header: string; readonly mark: string }): string {
  if (!id.includes(part.mark)) return id;
  throw malformedHeader(part.header, `it contains "${part.mark}", which ends it in the signed content`);
}
