import { field, jsonObject, textField } from "../../json.js";
import { textTime, unixTime } from "../event-time.js";
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

const HEADER = "stripe-signature";

/** Stripe: snapshot events and thin ones (`v2`), which differ in the body only. */
export const STRIPE: DescribedScheme = {
  name: "stripe",
  title: "Stripe",
  secret: 'the endpoint\'s signing secret, "whsec_…": each endpoint has its own, and so has the Stripe CLI',
  evidence: { kind: "official_library", name: "stripe", version: "23.1.0" },
  covers: { body: true, url: false, time: true },
  headers: [HEADER],
  listHeaders: [HEADER],
  identity: { id: "body `id`", type: "body `type`", time: "body `created`" },
  toleranceS: 300,
  // Live mode: three days. A sandbox gives up after a few hours.
  retryHorizonS: 259_200,
  // `pending_webhooks` counts down while other endpoints answer.
  bodyVaries: true,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Stripe. The secret is used as it stands, `whsec_` included.
 *
 * @example
 * const verifier = stripe({ secrets: "whsec_4f1c0e…" });
 */
export function stripe(options: VerifierOptions): Verifier {
  return createProviderVerifier(STRIPE, options, textKey("hmac_sha256"));
}

function read(request: SignedRequest): Reading {
  // `v0` stands beside `v1` on test events; it is made of a secret that everybody knows.
  const { time, signatures } = readTagged(request.headers, {
    header: HEADER,
    encoding: "hex",
    separator: ",",
    time: "t",
    signature: "v1",
  });
  return {
    claims: claims({ algorithm: "hmac_sha256", content: [`${time}.`, request.body], signatures }),
    signedAtS: parseTimestamp(time, HEADER),
  };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: textField(json, "id"),
      type: textField(json, "type"),
      // Unix seconds in snapshot events, ISO text in thin ones.
      time: unixTime(field(json, "created")) ?? textTime(textField(json, "created")),
    },
  ];
}
