import type { Clock, Verifier } from "posthorn";
import {
  adyen,
  anthropic,
  asana,
  auth0,
  bitbucket,
  calCom,
  calendly,
  chargebee,
  circleci,
  clerk,
  discord,
  docusign,
  figma,
  github,
  gitlab,
  hmac,
  httpSignature,
  hubspot,
  intercom,
  lemonSqueezy,
  linear,
  mailgun,
  notion,
  openai,
  paddle,
  paypal,
  polar,
  postmark,
  replicate,
  resend,
  sendgrid,
  sentry,
  shopify,
  slack,
  square,
  standardWebhooks,
  stripe,
  supabase,
  twilio,
  typeform,
  vercel,
  webflow,
  woocommerce,
  workos,
  zoom,
} from "posthorn/providers";
import { sourceInvalid } from "./source-invalid.js";

/** What makes a verifier: the source's options, whose types are already checked, with the secrets and the clock. */
export type SchemeOptions = Readonly<Record<string, unknown>> & {
  readonly secrets: readonly string[];
  readonly clock: Pick<Clock, "now">;
};

export type OptionKind = "text" | "number" | "boolean" | "place";

/** A scheme of sources: how its verifier is made, and which options it takes. */
export interface SourceScheme {
  readonly options: Readonly<Record<string, OptionKind>>;
  /** `address`: the source's own, where the server knows what stands before its path. */
  readonly make: (options: SchemeOptions, address?: string) => Verifier;
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

const HTTP_SIGNATURE_OPTIONS = {
  ...TOLERANCE,
  ...ADDRESS,
  id: "place",
  type: "place",
  time: "place",
  label: "text",
  mustCover: "text",
  rsa: "text",
} as const;

/** The scheme of a source that nobody signs. */
export const UNVERIFIED = "none";

/** Every scheme that a source can have, by its name. */
export const SOURCE_SCHEMES: ReadonlyMap<string, SourceScheme> = new Map<string, SourceScheme>([
  ["adyen", provider(adyen)],
  ["anthropic", provider(anthropic)],
  ["asana", provider(asana)],
  ["auth0", provider(auth0)],
  ["bitbucket", provider(bitbucket)],
  ["cal_com", provider(calCom)],
  ["calendly", provider(calendly)],
  ["chargebee", provider(chargebee)],
  ["circleci", provider(circleci)],
  ["clerk", provider(clerk)],
  ["discord", provider(discord)],
  ["docusign", provider(docusign)],
  ["figma", provider(figma)],
  ["github", provider(github)],
  ["gitlab", provider(gitlab)],
  ["http_signature", { options: HTTP_SIGNATURE_OPTIONS, make: httpSignatureOf }],
  ["hubspot", provider(hubspot, { ...TOLERANCE, ...ADDRESS })],
  ["intercom", provider(intercom)],
  ["lemon_squeezy", provider(lemonSqueezy)],
  ["linear", provider(linear)],
  ["mailgun", provider(mailgun)],
  ["notion", provider(notion)],
  ["openai", provider(openai)],
  ["paddle", provider(paddle)],
  ["paypal", { options: { ...TOLERANCE, webhookId: "text" }, make: paypalOf }],
  ["polar", provider(polar)],
  ["postmark", provider(postmark)],
  ["replicate", provider(replicate)],
  ["resend", provider(resend)],
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
  ["supabase", provider(supabase)],
  ["twilio", provider(twilio, { ...TOLERANCE, ...ADDRESS })],
  ["typeform", provider(typeform)],
  ["vercel", provider(vercel)],
  ["webflow", provider(webflow)],
  ["woocommerce", provider(woocommerce)],
  ["workos", provider(workos)],
  ["zoom", provider(zoom)],
  ["hmac", { options: HMAC_OPTIONS, make: hmacOf }],
  [UNVERIFIED, { options: DESCRIBED_EVENT, make: unverifiedOf }],
]);

/** PayPal's secrets are its certificates: the server does not fetch certificates. */
function paypalOf({ secrets, ...options }: SchemeOptions): Verifier {
  return paypal({ ...options, certificate: secrets } as never);
}

/** What must be covered comes as one text, its components with spaces between them. */
function httpSignatureOf({ mustCover, publicUrl, ...options }: SchemeOptions, address?: string): Verifier {
  const components = typeof mustCover === "string" ? mustCover.split(" ").filter(Boolean) : [];
  const own = typeof publicUrl === "string" ? publicUrl : address;
  if (own === undefined) throw sourceInvalid("options.publicUrl", ADDRESS_UNKNOWN);
  return httpSignature({ ...options, mustCover: components, publicUrl: own });
}

// The `host` header of a request will not do: it says whatever its sender has signed, for whichever receiver.
const ADDRESS_UNKNOWN =
  "nothing says under which URL the sender calls this source, so that a request for another receiver would be taken; give it, " +
  "as publicUrl=https://hooks.example.com, or set public_url for the whole server";

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
