import { numberText, parseJson } from "../../json.js";
import { atPointer } from "../../json-pointer.js";
import type { Place } from "../../place.js";
import { textTime, unixTime } from "../event-time.js";
import { findHeader, malformedHeader, needHeader } from "../headers/headers.js";
import { checkHmacOptions } from "../hmac-options.js";
import type { HmacOptions, HmacPlan, TemplatePart } from "../hmac-options.js";
import type { Content } from "../crypto/question.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
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
  return createProviderVerifier(schemeOf(plan), options, plan.parseSecret);
}

function schemeOf(plan: HmacPlan): DescribedScheme {
  return Object.freeze({
    name: plan.name,
    title: plan.title,
    secret: `the secret with which ${plan.title} signs its webhooks`,
    evidence: { kind: "unconfirmed", why: "described by the caller" },
    covers: plan.covers,
    headers: headersOf(plan),
    // A date of HTTP has a comma in it.
    listHeaders: headerAt(plan.time),
    identity: { id: say(plan.id), type: say(plan.type), time: plan.time && say(plan.time) },
    toleranceS: plan.covers.time ? 300 : undefined,
    retryHorizonS: plan.retryHorizonS,
    batch: false,
    replies: { success: { status: 200 } },
    read: (request: SignedRequest, verifier: Verifier) => read(plan, request, verifier),
    identify: (verified: Verified) => identify(plan, verified.request),
  } satisfies DescribedScheme);
}

function headersOf({ signature, timestamp, id, type, time }: HmacPlan): readonly string[] {
  return [signature.header, ...headerAt(timestamp), ...headerAt(id), ...headerAt(type), ...headerAt(time)];
}

function headerAt(place: Place | undefined): readonly string[] {
  return place !== undefined && "header" in place ? [place.header] : [];
}

function say(place: Place | undefined): string {
  if (place === undefined) return "none";
  return "header" in place ? `header \`${place.header}\`` : `body \`${place.pointer.join(".")}\``;
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

function identify(plan: HmacPlan, request: SignedRequest): readonly EventIdentity[] {
  const json = parseJson(request.body);
  const id = plan.id === undefined ? undefined : textAt(plan.id, request, json);
  const type = plan.type === undefined ? undefined : textAt(plan.type, request, json);
  return [{ id, type, time: timeAt(plan.time, request, json) }];
}

function textAt(place: Place, request: SignedRequest, json: unknown): string | undefined {
  if ("header" in place) return findHeader(request.headers, place.header);
  const value = atPointer(json, place.pointer);
  if (typeof value === "string" && value !== "") return value;
  if (typeof value !== "number") return undefined;
  const [name, ...deeper] = place.pointer;
  // Above 2^53 JSON.parse rounds; deeper down no exact text can be had, and no id is better than a shared one.
  if (name !== undefined && deeper.length === 0) return numberText(request.body, name);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

function timeAt(place: HmacPlan["time"], request: SignedRequest, json: unknown): Date | undefined {
  const text = place === undefined ? undefined : textAt(place, request, json);
  if (place === undefined || text === undefined) return undefined;
  if (place.unit === "iso") return textTime(text);
  return /^\d{1,15}$/.test(text) ? unixTime(Number(text) / (place.unit === "ms" ? 1000 : 1)) : undefined;
}
