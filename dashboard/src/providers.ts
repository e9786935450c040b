/** A provider as the forms offer it. */
export interface Provider {
  /** Of the API. */
  readonly scheme: string;
  readonly title: string;
  /** Where its dashboard asks for the address. */
  readonly where?: string;
  /** Where the customer, or what else events should be in order by, stands in its bodies. */
  readonly keyPointer?: string;
  /** What its secret looks like. */
  readonly secretHint?: string;
}

/** Every scheme that a source can have; a test keeps the list equal to the server's. */
export const PROVIDERS: readonly Provider[] = [
  {
    scheme: "stripe",
    title: "Stripe",
    where: "In Stripe, open Developers, Webhooks, and paste this address:",
    keyPointer: "/data/object/customer",
    secretHint: "whsec_…, shown by Stripe when the endpoint is added",
  },
  {
    scheme: "github",
    title: "GitHub",
    where: "In the repository, open Settings, Webhooks, choose application/json, and paste this address:",
    keyPointer: "/repository/full_name",
    secretHint: "the secret that you write into GitHub’s form",
  },
  {
    scheme: "shopify",
    title: "Shopify",
    where: "In Shopify, open Settings, Notifications, Webhooks, and paste this address:",
    secretHint: "the secret below the list of webhooks",
  },
  {
    scheme: "standard_webhooks",
    title: "Standard Webhooks",
    where: "Give this address to the sender:",
    secretHint: "whsec_… and base64",
  },
  { scheme: "slack", title: "Slack" },
  { scheme: "discord", title: "Discord" },
  { scheme: "gitlab", title: "GitLab" },
  { scheme: "hubspot", title: "HubSpot" },
  { scheme: "lemon_squeezy", title: "Lemon Squeezy" },
  { scheme: "linear", title: "Linear" },
  { scheme: "mailgun", title: "Mailgun" },
  { scheme: "paddle", title: "Paddle" },
  { scheme: "paypal", title: "PayPal" },
  { scheme: "sendgrid", title: "SendGrid" },
  { scheme: "sentry", title: "Sentry" },
  { scheme: "square", title: "Square" },
  { scheme: "twilio", title: "Twilio" },
  { scheme: "vercel", title: "Vercel" },
  { scheme: "workos", title: "WorkOS" },
  { scheme: "zoom", title: "Zoom" },
  { scheme: "hmac", title: "Another, by HMAC" },
  { scheme: "none", title: "Not signed" },
];

export function providerOf(scheme: string): Provider {
  return PROVIDERS.find((provider) => provider.scheme === scheme) ?? { scheme, title: scheme };
}
