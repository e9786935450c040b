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

/** What a scheme's maker is given: the source's options, already held to their kinds, and what the server adds. */
export type SchemeOptions = Readonly<Record<string, unknown>> & {
  readonly secrets: readonly string[];
  readonly clock: Pick<Clock, "now">;
};

export type OptionKind = "text" | "number" | "boolean" | "place";

/** A scheme as sources name it: how its verifier is made, and which options it takes. */
export interface SourceScheme {
  readonly options: Readonly<Record<string, OptionKind>>;
  readonly make: (options: SchemeOptions) => Verifier;
}

const TOLERANCE = { toleranceS: "number" } as const;
const ADDRESS = { publicUrl: "text" } as const;

// The makers take their options typed; here they come from outside, each held to its kind, and are checked by the maker.
function provider(
  make: (options: never) => Verifier,
  options: Readonly<Record<string, OptionKind>> = TOLERANCE,
): SourceScheme {
  return { options, make: make as (options: SchemeOptions) => Verifier };
}

// Their events carry what tells them apart somewhere; nothing else is asked of a provider that is not in the list.
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

/** PayPal's secrets are its certificates: the server fetches none. */
function paypalOf({ secrets, ...options }: SchemeOptions): Verifier {
  return paypal({ ...options, certificate: secrets } as never);
}

function hmacOf(options: SchemeOptions): Verifier {
  return hmac({ name: "hmac", retryHorizonS: DEFAULT_HORIZON_S, ...options } as never);
}

/** Names events as `hmac` does. Its key is never asked: nothing of such a source is verified. */
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
