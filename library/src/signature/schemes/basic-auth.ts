import { decodeBase64 } from "../../bytes.js";
import { identityAt } from "../event-places.js";
import type { EventPlaces } from "../event-places.js";
import { malformedHeader, needHeader } from "../headers/headers.js";
import type { Key } from "../keys/key.js";
import { malformedSecret, tokenKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, Reading, SignedRequest, Verifier } from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";

// Providers that sign nothing and send user and password instead (RFC 7617), which prove only that the sender knows them.

const HEADER = "authorization";

type Facts = Omit<DescribedScheme, "covers" | "headers" | "identity" | "read" | "identify">;

function basicAuth(
  facts: Facts,
  places: EventPlaces,
  identity: DescribedScheme["identity"],
): DescribedScheme {
  return Object.freeze({
    ...facts,
    covers: { body: false, url: false, time: false, id: false },
    headers: [HEADER],
    identity,
    read,
    identify: ({ request }) => [identityAt(places, request)],
  } satisfies DescribedScheme);
}

const SECRET = 'user and password of the webhook, as "user:password"';

/** Chargebee, with basic authentication. */
export const CHARGEBEE: DescribedScheme = /* @__PURE__ */ basicAuth(
  {
    name: "chargebee",
    title: "Chargebee",
    secret: SECRET,
    evidence: { kind: "official_library", name: "chargebee", version: "3.33.0" },
    toleranceS: undefined,
    // Seven more attempts, the last of them after about 3 days and 7 hours.
    retryHorizonS: 284_400,
    // `webhook_status` says at a later attempt that it was scheduled anew.
    bodyVaries: true,
    batch: false,
    replies: { success: { status: 200 } },
  },
  {
    id: { pointer: ["id"] },
    type: { pointer: ["event_type"] },
    time: { pointer: ["occurred_at"], unit: "s" },
  },
  { id: "body `id`", type: "body `event_type`", time: "body `occurred_at`" },
);

/** Postmark, with basic authentication in the webhook's URL. */
export const POSTMARK: DescribedScheme = /* @__PURE__ */ basicAuth(
  {
    name: "postmark",
    title: "Postmark",
    secret: SECRET,
    evidence: { kind: "published_example", where: "RFC 7617, section 2; nothing is computed" },
    toleranceS: undefined,
    // Ten more attempts within ten and a half hours.
    retryHorizonS: 38_400,
    batch: false,
    // After 403 it gives the event up.
    replies: { success: { status: 200 }, stopEvent: { status: 403 } },
  },
  // MessageID names the email, which has many events.
  { id: undefined, type: { pointer: ["RecordType"] }, time: undefined },
  { id: "none: the body's hash tells events apart", type: "body `RecordType`", time: undefined },
);

/**
 * Verifies Chargebee by user and password.
 *
 * @example
 * const verifier = chargebee({ secrets: "webhooks:a long password" });
 */
export function chargebee(options: VerifierOptions): Verifier {
  return createProviderVerifier(CHARGEBEE, options, userAndPassword);
}

/**
 * Verifies Postmark by the user and password of the webhook's URL.
 *
 * @example
 * const verifier = postmark({ secrets: "webhooks:a long password" });
 */
export function postmark(options: VerifierOptions): Verifier {
  return createProviderVerifier(POSTMARK, options, userAndPassword);
}

function userAndPassword(secret: string, name: string): Key {
  // A colon ends the user, so a secret without one is half of it, or the encoded form.
  if (/^[^:]+:./.test(secret)) return tokenKey(secret, name);
  throw malformedSecret(name, 'is not of the form "user:password"', "Write both, with a colon between them.");
}

function read({ headers }: SignedRequest): Reading {
  const text = needHeader(headers, HEADER);
  const sent = /^basic +(\S+)$/i.exec(text)?.[1];
  const token = sent === undefined ? undefined : decodeBase64(sent);
  if (token === undefined) throw malformedHeader(HEADER, 'it must be "Basic" and base64');
  return { claims: [{ algorithm: "plain_token", content: [], signatures: [token] }] };
}
