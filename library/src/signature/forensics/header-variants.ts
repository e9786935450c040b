import { decodeBase64, decodeHex, encodeBase64, encodeHex } from "../../bytes.js";
import { findHeader } from "../headers/headers.js";
import type { HeaderBag } from "../headers/headers.js";
import type { Scheme, SignedRequest, Verifier } from "../scheme.js";
import type { Variant } from "./variant.js";

/** Where a scheme's signature stands. A test keeps the table equal to the schemes and their vectors. */
export interface SignatureHeader {
  readonly header: string;
  readonly scheme: string;
  readonly title: string;
  /** The function that verifies it. */
  readonly verifyWith: string;
  /** What stands before the signature. */
  readonly prefix?: string;
}

export const SIGNATURE_HEADERS: readonly SignatureHeader[] = [
  row("webhook-signature", "standard_webhooks", "Standard Webhooks", "v1,"),
  row("svix-signature", "standard_webhooks", "Standard Webhooks", "v1,"),
  row("stripe-signature", "stripe", "Stripe"),
  row("x-hub-signature-256", "github", "GitHub", "sha256="),
  row("x-shopify-hmac-sha256", "shopify", "Shopify"),
  row("shopify-hmac-sha256", "shopify", "Shopify"),
  row("x-slack-signature", "slack", "Slack", "v0="),
  row("x-twilio-signature", "twilio", "Twilio"),
  row("paddle-signature", "paddle", "Paddle"),
  row("x-square-hmacsha256-signature", "square", "Square"),
  row("linear-signature", "linear", "Linear"),
  row("x-zm-signature", "zoom", "Zoom", "v0="),
  row("paypal-transmission-sig", "paypal", "PayPal"),
  row("x-signature-ed25519", "discord", "Discord"),
  row("x-hubspot-signature-v3", "hubspot", "HubSpot (v3)"),
  row("x-twilio-email-event-webhook-signature", "sendgrid", "SendGrid"),
  row("x-gitlab-token", "gitlab", "GitLab (secret token)"),
  row("x-vercel-signature", "vercel", "Vercel"),
  row("sentry-hook-signature", "sentry", "Sentry"),
  row("x-signature", "lemon_squeezy", "Lemon Squeezy"),
  row("workos-signature", "workos", "WorkOS"),
  row("calendly-webhook-signature", "calendly", "Calendly"),
  row("circleci-signature", "circleci", "CircleCI", "v1="),
  row("signature-input", "http_signature", "HTTP Message Signatures (RFC 9421)"),
  row("typeform-signature", "typeform", "Typeform", "sha256="),
  row("x-cal-signature-256", "cal_com", "Cal.com"),
  row("x-docusign-signature-1", "docusign", "DocuSign Connect"),
  row("x-hook-signature", "asana", "Asana"),
  // Two of them share a header, and the prefix tells them apart.
  row("x-hub-signature", "bitbucket", "Bitbucket", "sha256="),
  row("x-hub-signature", "intercom", "Intercom", "sha1="),
  row("x-notion-signature", "notion", "Notion", "sha256="),
  row("x-wc-webhook-signature", "woocommerce", "WooCommerce"),
  row("x-webflow-signature", "webflow", "Webflow"),
];

/** The scheme whose headers a scheme uses: many providers send Standard Webhooks under names of their own. */
export function headersOf({ name, headers }: Pick<Scheme, "name" | "headers">): string {
  return headers.includes("webhook-signature") ? "standard_webhooks" : name;
}

// Older signatures of the same providers, which are not verified because they prove less.
const OUTDATED: ReadonlyMap<string, readonly [header: string, cure: string]> = new Map(
  Object.entries({
    github: ["x-hub-signature", "it is the SHA-1 of before 2020; the sender has to send X-Hub-Signature-256"],
    hubspot: ["x-hubspot-signature", "it is version 1 or 2, which signs no time; ask HubSpot for version 3"],
    square: [
      "x-square-signature",
      "it is the SHA-1 of before 2022; use a subscription of the current Webhooks API",
    ],
  } as const),
);

/** What stands where the scheme's own header should be. */
export function misplacedHeaders(
  { headers }: SignedRequest,
  { scheme }: Verifier,
  missing: string,
): readonly string[] {
  const facts: string[] = [];
  const renamed = [missing.replaceAll("-", "_"), `http_${missing.replaceAll("-", "_")}`, `x-${missing}`];
  const found = renamed.find((name) => valueOf(headers, name) !== undefined);
  if (found !== undefined)
    facts.push(`It came under the name "${found}": hand in the headers as they were sent.`);
  const own = headersOf(scheme);
  const mine = SIGNATURE_HEADERS.filter((each) => each.scheme === own);
  const present = mine.find(({ header }) => header !== missing && valueOf(headers, header) !== undefined);
  if (present !== undefined) {
    facts.push(`"${present.header}" is there, so something on the way drops or renames headers.`);
  }
  const [header, cure] = OUTDATED.get(scheme.name) ?? [];
  if (header !== undefined && valueOf(headers, header) !== undefined) {
    facts.push(`"${header}" is there instead: ${cure}.`);
  }
  return [...facts, ...foreignHeaders(headers, own, header)];
}

/** Signatures of other schemes, of which the request may be one. */
function foreignHeaders(headers: HeaderBag, scheme: string, outdated: string | undefined): readonly string[] {
  const rows = SIGNATURE_HEADERS.filter((each) => {
    if (each.scheme === scheme || each.header === outdated) return false;
    return valueOf(headers, each.header)?.includes(each.prefix ?? "");
  });
  return rows.map(({ header, title, verifyWith }) => {
    return `"${header}" is there instead, which is ${title}: verify this address with ${verifyWith}().`;
  });
}

/** The signature header as it may have been meant. */
export function* headerVariants(request: SignedRequest, { scheme }: Verifier): Generator<Variant> {
  for (const { header, prefix } of SIGNATURE_HEADERS.filter((each) => each.scheme === headersOf(scheme))) {
    const value = valueOf(request.headers, header);
    if (value === undefined) continue;
    for (const [says, text] of rewritten(value, prefix ?? "")) {
      if (text !== value)
        yield { says: `The header "${header}" ${says}`, request: withHeader(request, header, text) };
    }
  }
}

const HEX = /(?<![0-9a-z+/])(?:[0-9a-f]{128}|[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-z+/=])/gi;
const BASE64 = /(?<![\w+/-])(?:[\w+/-]{86}(?:==)?|[\w+/-]{43}=?|[\w+/-]{27}=?)(?![\w+/=-])/g;

function* rewritten(value: string, prefix: string): Generator<readonly [string, string]> {
  const bare = value.trim().replace(/^"(.*)"$/, "$1");
  yield ["has quotes or spaces around it.", bare];
  yield [
    "has its signature in hexadecimal, where base64 is expected: the sender must encode it otherwise.",
    value.replaceAll(HEX, (text) => encodeBase64(decodeHex(text) ?? new Uint8Array())),
  ];
  yield [
    "has its signature in base64, where hexadecimal is expected: the sender must encode it otherwise.",
    value.replaceAll(BASE64, (text) => encodeHex(decodeBase64(text) ?? new Uint8Array())),
  ];
  if (prefix !== "" && !value.includes(prefix)) {
    yield [`lacks "${prefix}" before its signature: the sender must add it.`, prefix + bare];
  }
}

function withHeader(request: SignedRequest, header: string, value: string): SignedRequest {
  const { headers } = request;
  const get = (name: string): string | null => (name === header ? value : (valueOf(headers, name) ?? null));
  return { ...request, headers: { get } };
}

function valueOf(headers: HeaderBag, name: string): string | undefined {
  try {
    return findHeader(headers, name);
  } catch {
    // Sent twice or far too long: then it tells nothing.
    return undefined;
  }
}

function row(header: string, scheme: string, title: string, prefix?: string): SignatureHeader {
  const verifyWith = scheme.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return { header, scheme, title, verifyWith, ...(prefix === undefined ? {} : { prefix }) };
}
