import type { ProviderName } from "./provider-name.js";
import type { Sender } from "./sender.js";
import { ADYEN_SENDER } from "./adyen.js";
import { DISCORD_SENDER } from "./discord.js";
import { GITHUB_SENDER } from "./github.js";
import { GITLAB_SENDER } from "./gitlab.js";
import {
  ASANA_SENDER,
  BITBUCKET_SENDER,
  CALENDLY_SENDER,
  CAL_COM_SENDER,
  CIRCLECI_SENDER,
  DOCUSIGN_SENDER,
  INTERCOM_SENDER,
  NOTION_SENDER,
  TYPEFORM_SENDER,
  WEBFLOW_SENDER,
  WOOCOMMERCE_SENDER,
} from "./hmac-senders.js";
import { HTTP_SIGNATURE_SENDER } from "./http-signature.js";
import { HUBSPOT_SENDER } from "./hubspot.js";
import { LEMON_SQUEEZY_SENDER } from "./lemon-squeezy.js";
import { LINEAR_SENDER } from "./linear.js";
import { MAILGUN_SENDER } from "./mailgun.js";
import { PADDLE_SENDER } from "./paddle.js";
import { PAYPAL_SENDER } from "./paypal.js";
import { SENDGRID_SENDER } from "./sendgrid.js";
import { SENTRY_SENDER } from "./sentry.js";
import { SHOPIFY_SENDER } from "./shopify.js";
import { SLACK_SENDER } from "./slack.js";
import { SQUARE_SENDER } from "./square.js";
import { STANDARD_WEBHOOKS_SENDER } from "./standard.js";
import {
  ANTHROPIC_SENDER,
  CLERK_SENDER,
  OPENAI_SENDER,
  POLAR_SENDER,
  REPLICATE_SENDER,
  RESEND_SENDER,
  SUPABASE_SENDER,
} from "./standard-senders.js";
import { STRIPE_SENDER } from "./stripe.js";
import { AUTH0_SENDER, CHARGEBEE_SENDER, FIGMA_SENDER, POSTMARK_SENDER } from "./token-senders.js";
import { TWILIO_SENDER } from "./twilio.js";
import { VERCEL_SENDER } from "./vercel.js";
import { WORKOS_SENDER } from "./workos.js";
import { ZOOM_SENDER } from "./zoom.js";

/** How the requests of every provider are made. */
export const SENDERS: Readonly<Record<ProviderName, Sender>> = {
  adyen: ADYEN_SENDER,
  anthropic: ANTHROPIC_SENDER,
  asana: ASANA_SENDER,
  auth0: AUTH0_SENDER,
  bitbucket: BITBUCKET_SENDER,
  cal_com: CAL_COM_SENDER,
  calendly: CALENDLY_SENDER,
  chargebee: CHARGEBEE_SENDER,
  circleci: CIRCLECI_SENDER,
  clerk: CLERK_SENDER,
  discord: DISCORD_SENDER,
  docusign: DOCUSIGN_SENDER,
  figma: FIGMA_SENDER,
  github: GITHUB_SENDER,
  gitlab: GITLAB_SENDER,
  http_signature: HTTP_SIGNATURE_SENDER,
  hubspot: HUBSPOT_SENDER,
  intercom: INTERCOM_SENDER,
  lemon_squeezy: LEMON_SQUEEZY_SENDER,
  linear: LINEAR_SENDER,
  mailgun: MAILGUN_SENDER,
  notion: NOTION_SENDER,
  openai: OPENAI_SENDER,
  paddle: PADDLE_SENDER,
  paypal: PAYPAL_SENDER,
  polar: POLAR_SENDER,
  postmark: POSTMARK_SENDER,
  replicate: REPLICATE_SENDER,
  resend: RESEND_SENDER,
  sendgrid: SENDGRID_SENDER,
  sentry: SENTRY_SENDER,
  shopify: SHOPIFY_SENDER,
  slack: SLACK_SENDER,
  square: SQUARE_SENDER,
  standard_webhooks: STANDARD_WEBHOOKS_SENDER,
  stripe: STRIPE_SENDER,
  supabase: SUPABASE_SENDER,
  twilio: TWILIO_SENDER,
  typeform: TYPEFORM_SENDER,
  vercel: VERCEL_SENDER,
  webflow: WEBFLOW_SENDER,
  woocommerce: WOOCOMMERCE_SENDER,
  workos: WORKOS_SENDER,
  zoom: ZOOM_SENDER,
};
