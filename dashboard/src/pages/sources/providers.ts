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
  {
    scheme: "slack",
    title: "Slack",
    where:
      "In api.slack.com/apps, open the app, Event Subscriptions, and paste this address as the Request URL:",
    secretHint: "the Signing Secret of the app’s Basic Information",
  },
  {
    scheme: "discord",
    title: "Discord",
    where:
      "In the Developer Portal, open the app, General Information, and paste this address as the Interactions Endpoint URL:",
    secretHint: "the Public Key of the app",
  },
  {
    scheme: "gitlab",
    title: "GitLab",
    where: "In the project, open Settings, Webhooks, and paste this address:",
    keyPointer: "/project/path_with_namespace",
    secretHint: "the secret token or signing token of the webhook",
  },
  {
    scheme: "hubspot",
    title: "HubSpot",
    where: "In the developer account, open the app, Webhooks, and paste this address as the Target URL:",
    secretHint: "the client secret of the app",
  },
  {
    scheme: "lemon_squeezy",
    title: "Lemon Squeezy",
    where: "Open Settings, Webhooks, and paste this address as the Callback URL:",
    secretHint: "the signing secret that you write into its form",
  },
  {
    scheme: "linear",
    title: "Linear",
    where: "Open Settings, API, Webhooks, and paste this address:",
    keyPointer: "/data/id",
    secretHint: "the signing secret of the webhook",
  },
  {
    scheme: "mailgun",
    title: "Mailgun",
    where: "Open Send, Sending, Webhooks, and paste this address:",
    secretHint: "the HTTP webhook signing key",
  },
  {
    scheme: "paddle",
    title: "Paddle",
    where: "Open Developer Tools, Notifications, add a destination, and paste this address:",
    keyPointer: "/data/customer_id",
    secretHint: "the secret key of the destination",
  },
  {
    scheme: "paypal",
    title: "PayPal",
    where: "In the Developer Dashboard, open the app, Webhooks, and paste this address:",
    secretHint: "the certificate, and the webhook’s id by the CLI: posthorn source add --help",
  },
  {
    scheme: "sendgrid",
    title: "SendGrid",
    where: "Open Settings, Mail Settings, Event Webhooks, and paste this address as the Post URL:",
    secretHint: "the verification key of the signed event webhook",
  },
  {
    scheme: "sentry",
    title: "Sentry",
    where: "Open Settings, Developer Settings, the integration, and paste this address as the Webhook URL:",
    secretHint: "the client secret of the integration",
  },
  {
    scheme: "square",
    title: "Square",
    where: "In the Developer Dashboard, open the app, Webhooks, Subscriptions, and paste this address:",
    keyPointer: "/merchant_id",
    secretHint: "the signature key of the subscription",
  },
  {
    scheme: "twilio",
    title: "Twilio",
    where: "In the Console, open the phone number or the service, and paste this address as its webhook:",
    secretHint: "the auth token of the account",
  },
  {
    scheme: "vercel",
    title: "Vercel",
    where: "In the team’s settings, open Webhooks, and paste this address:",
    secretHint: "the secret that Vercel shows when the webhook is made",
  },
  {
    scheme: "workos",
    title: "WorkOS",
    where: "In the dashboard, open Webhooks, and paste this address:",
    secretHint: "the signing secret of the endpoint",
  },
  {
    scheme: "zoom",
    title: "Zoom",
    where: "In the App Marketplace, open the app, Access, Event Subscription, and paste this address:",
    secretHint: "the secret token of the app",
  },
  {
    scheme: "adyen",
    title: "Adyen",
    where: "In the Customer Area, open Developers, Webhooks, add a standard webhook, and paste this address:",
    secretHint: "the HMAC key of the webhook, 64 hexadecimal characters",
  },
  {
    scheme: "anthropic",
    title: "Anthropic",
    where: "In the Console, open Webhooks, and paste this address:",
    secretHint: "whsec_…, the signing key of the webhook",
  },
  {
    scheme: "asana",
    title: "Asana",
    where: "Give this address as the target when you make the webhook by Asana’s API:",
    secretHint: "what X-Hook-Secret of the handshake said",
  },
  {
    scheme: "auth0",
    title: "Auth0",
    where:
      "Open Monitoring, Streams, add a custom webhook with the format JSON Array, and paste this address:",
    secretHint: "the authorization token that you write into its form",
  },
  {
    scheme: "bitbucket",
    title: "Bitbucket",
    where: "In the repository, open Repository settings, Webhooks, and paste this address:",
    keyPointer: "/repository/full_name",
    secretHint: "the secret that you write into its form",
  },
  {
    scheme: "cal_com",
    title: "Cal.com",
    where: "Open Settings, Developer, Webhooks, and paste this address:",
    secretHint: "the secret that you write into its form",
  },
  {
    scheme: "calendly",
    title: "Calendly",
    where: "Give this address when you make the webhook subscription by Calendly’s API:",
    secretHint: "the signing key that you gave with it",
  },
  {
    scheme: "chargebee",
    title: "Chargebee",
    where:
      "Open Settings, Configure Chargebee, Webhooks, protect it with basic authentication, and paste this address:",
    keyPointer: "/content/customer/id",
    secretHint: "user:password, as you write them into its form",
  },
  {
    scheme: "circleci",
    title: "CircleCI",
    where: "In the project’s settings, open Webhooks, and paste this address:",
    secretHint: "the secret token that you write into its form",
  },
  {
    scheme: "clerk",
    title: "Clerk",
    where: "In the Dashboard, open Webhooks, add an endpoint, and paste this address:",
    keyPointer: "/data/id",
    secretHint: "whsec_…, the signing secret of the endpoint",
  },
  {
    scheme: "docusign",
    title: "DocuSign",
    where: "Open Settings, Connect, add a configuration with HMAC, and paste this address:",
    keyPointer: "/data/envelopeId",
    secretHint: "the key of Connect Keys",
  },
  {
    scheme: "figma",
    title: "Figma",
    where: "Give this address when you make the webhook by Figma’s API:",
    keyPointer: "/file_key",
    secretHint: "the passcode that you gave with it",
  },
  {
    scheme: "http_signature",
    title: "HTTP Message Signatures",
    where: "Give this address to the sender:",
    secretHint: "the sender’s public key in PEM",
  },
  {
    scheme: "intercom",
    title: "Intercom",
    where: "In the Developer Hub, open the app, Webhooks, and paste this address:",
    secretHint: "the client secret of the app",
  },
  {
    scheme: "notion",
    title: "Notion",
    where: "In the integration’s settings, open Webhooks, and paste this address:",
    secretHint: "the verification token that Notion’s first request brings",
  },
  {
    scheme: "openai",
    title: "OpenAI",
    where: "In the project’s settings, open Webhooks, and paste this address:",
    secretHint: "whsec_…, shown when the webhook is made",
  },
  {
    scheme: "polar",
    title: "Polar",
    where: "In the organization’s settings, open Webhooks, add an endpoint, and paste this address:",
    keyPointer: "/data/customer_id",
    secretHint: "the secret of the endpoint",
  },
  {
    scheme: "postmark",
    title: "Postmark",
    where: "In the server’s message stream, open Webhooks, set basic authentication, and paste this address:",
    secretHint: "user:password, as you write them into its form",
  },
  {
    scheme: "replicate",
    title: "Replicate",
    where: "Give this address as the webhook of a prediction:",
    keyPointer: "/id",
    secretHint: "whsec_…, the signing key of the account",
  },
  {
    scheme: "resend",
    title: "Resend",
    where: "Open Webhooks, add one, and paste this address:",
    secretHint: "whsec_…, the signing secret of the webhook",
  },
  {
    scheme: "supabase",
    title: "Supabase",
    where: "Open Authentication, Hooks, add an HTTPS hook, and paste this address:",
    secretHint: "v1,whsec_…, the secret of the hook",
  },
  {
    scheme: "typeform",
    title: "Typeform",
    where: "In the form, open Connect, Webhooks, and paste this address:",
    secretHint: "the secret that you write into its form",
  },
  {
    scheme: "webflow",
    title: "Webflow",
    where: "In the site’s settings, open Apps and integrations, Webhooks, and paste this address:",
    secretHint: "the secret key that Webflow shows",
  },
  {
    scheme: "woocommerce",
    title: "WooCommerce",
    where: "Open WooCommerce, Settings, Advanced, Webhooks, and paste this address as the delivery URL:",
    secretHint: "the secret that you write into its form",
  },
  { scheme: "hmac", title: "Another, by HMAC" },
  { scheme: "none", title: "Not signed" },
];

export function providerOf(scheme: string): Provider {
  return PROVIDERS.find((provider) => provider.scheme === scheme) ?? { scheme, title: scheme };
}
