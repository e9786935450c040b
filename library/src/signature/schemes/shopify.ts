import { textTime } from "../event-time.js";
import { findHeader } from "../headers/headers.js";
import type { HeaderBag } from "../headers/headers.js";
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
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const PREFIXES = ["shopify", "x-shopify"] as const;
const NAMES = ["hmac-sha256", "webhook-id", "topic", "triggered-at"] as const;

/**
 * Shopify: webhooks (`X-Shopify-…` headers) and the newer Events (`Shopify-…`). Only the body is signed:
 * shop, topic and id stand in headers that nobody signs, so a captured request can be sent again under
 * another id or topic.
 */
export const SHOPIFY: DescribedScheme = {
  name: "shopify",
  title: "Shopify",
  secret: "the app's client secret",
  evidence: { kind: "official_library", name: "@shopify/shopify-api", version: "13.1.0" },
  covers: { body: true, url: false, time: false, id: false },
  headers: PREFIXES.flatMap((prefix) => NAMES.map((name) => `${prefix}-${name}`)),
  identity: {
    // Not `X-Shopify-Event-Id`: one checkout sends orders/create and orders/paid under the same one.
    id: "header `X-Shopify-Webhook-Id`",
    type: "header `X-Shopify-Topic`",
    time: "header `X-Shopify-Triggered-At`",
  },
  toleranceS: undefined,
  // 8 attempts within four hours; then the subscription is removed.
  retryHorizonS: 14_400,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Shopify, with the client secret of the app.
 *
 * @example
 * const verifier = shopify({ secrets: "shpss_1f0c…" });
 */
export function shopify(options: VerifierOptions): Verifier {
  return createProviderVerifier(SHOPIFY, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const header = `${prefixOf(headers)}-hmac-sha256`;
  const signatures = [readSignature(headers, { header, encoding: "base64" })];
  return { claims: [{ algorithm: "hmac_sha256", content: [body], signatures }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  return [identity(request.headers)];
}

function identity(headers: HeaderBag): EventIdentity {
  const prefix = prefixOf(headers);
  return {
    id: findHeader(headers, `${prefix}-webhook-id`),
    type: findHeader(headers, `${prefix}-topic`),
    time: textTime(findHeader(headers, `${prefix}-triggered-at`)),
  };
}

// As Shopify's library decides it. One prefix for all headers, so that nobody can mix two sets of them.
function prefixOf(headers: HeaderBag): (typeof PREFIXES)[number] {
  return findHeader(headers, "shopify-hmac-sha256") === undefined ? "x-shopify" : "shopify";
}
