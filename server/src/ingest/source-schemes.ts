import type { Clock, Verifier } from "posthorn";
import {
  discord,
  github,
  gitlab,
  hmac,
  hubspot,
  lemonSqueezy,
  linear,
  mailgun,
  paddle,
  paypal,
  sendgrid,
  sentry,
  shopify,
  slack,
  square,
  standardWebhooks,
  stripe,
  twilio,
  vercel,
  workos,
  zoom,
} from "posthorn/providers";

/** What makes a verifier: the source's options, whose types are already checked, with the secrets and the clock. */
export type SchemeOptions = Readonly<Record<string, unknown>> & {
  readonly secrets: readonly string[];
  readonly clock: Pick<Clock, "now">;
};

export type OptionKind = "text" | "number" | "boolean" | "place";

/** A scheme of sources: how its verifier is made, and which options it takes. */
export interface SourceScheme {
  readonly options: Readonly<Record<string, OptionKind>>;
  readonly make: (options: SchemeOptions) => Verifier;
}

const TOLERANCE = { toleranceS: "number" } as const;
const ADDRESS = { publicUrl: "text" } as const;

// The library's functions take typed options. These come from outside: `checkOptions` checks their types, the function
// checks their values.
function provider(
  make: (options: never) => Verifier,
  options: Readonly<Record<string, OptionKind>> = TOLERANCE,
): SourceScheme {
  return { options, make: make as (options: SchemeOptions) => Verifier };
}

// How to find id, type and time in events of a provider that is not in the list.
const DESCRIBED_EVENT = { id: "place", type: "place", time: "place", retryHorizonS: "number" } as const;
const DEFAULT_HORIZON_S = 3 * 24 * 3600;

const HMAC_OPTIONS = {
  ...DESCRIBED_EVENT,
  ...TOLERANCE,
  ...ADDRESS,
  name: "text",
  title: "text",
  header: "text",
  algorithm: "text",
  encoding: "text",
  prefix: "text",
  content: "text",
  timestampHeader: "text",
  timestampUnit: "text",
  secretEncoding: "text",
} as const;

/** The scheme of a source that nobody signs. */
export const UNVERIFIED = "none";

/** Every scheme that a source can have, by its name. */
export const SOURCE_SCHEMES: ReadonlyMap<string, SourceScheme> = new Map<string, SourceScheme>([
  ["discord", provider(discord)],
  ["github", provider(github)],
  ["gitlab", provider(gitlab)],
  ["hubspot", provider(hubspot, { ...TOLERANCE, ...ADDRESS })],
  ["lemon_squeezy", provider(lemonSqueezy)],
  ["linear", provider(linear)],
  ["mailgun", provider(mailgun)],
  ["paddle", provider(paddle)],
  ["paypal", { options: { ...TOLERANCE, webhookId: "text" }, make: paypalOf }],
  ["sendgrid", provider(sendgrid)],
  ["sentry", provider(sentry)],
  ["shopify", provider(shopify)],
  ["slack", provider(slack)],
  ["square", provider(square, { ...TOLERANCE, ...ADDRESS })],
  [
    "standard_webhooks",
    provider(standardWebhooks, { ...TOLERANCE, requireOrder: "boolean", secretEncoding: "text" }),
  ],
  ["stripe", provider(stripe)],
  ["twilio", provider(twilio, { ...TOLERANCE, ...ADDRESS })],
  ["vercel", provider(vercel)],
  ["workos", provider(workos)],
  ["zoom", provider(zoom)],
  ["hmac", { options: HMAC_OPTIONS, make: hmacOf }],
  [UNVERIFIED, { options: DESCRIBED_EVENT, make: unverifiedOf }],
]);

/** PayPal's secrets are its certificates: the server does not fetch certificates. */
function paypalOf({ secrets, ...options }: SchemeOptions): Verifier {
  return paypal({ ...options, certificate: secrets } as never);
}

function hmacOf(options: SchemeOptions): Verifier {
  return hmac({ name: "hmac", retryHorizonS: DEFAULT_HORIZON_S, ...options } as never);
}

/** Names events as `hmac` does. Its key is never used: nothing is verified. */
function unverifiedOf({ clock, ...options }: SchemeOptions): Verifier {
  return hmac({
    retryHorizonS: 0,
    ...options,
    name: UNVERIFIED,
    secrets: ["nothing is verified with this"],
    header: "x-none",
    encoding: "hex",
    clock,
  });
}
