import type { ProviderName } from "./provider-name.js";
import type { Sender } from "./sender.js";
import { DISCORD_SENDER } from "./discord.js";
import { GITHUB_SENDER } from "./github.js";
import { GITLAB_SENDER } from "./gitlab.js";
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
import { STRIPE_SENDER } from "./stripe.js";
import { TWILIO_SENDER } from "./twilio.js";
import { VERCEL_SENDER } from "./vercel.js";
import { WORKOS_SENDER } from "./workos.js";
import { ZOOM_SENDER } from "./zoom.js";

/** How the requests of every provider are made. */
export const SENDERS: Readonly<Record<ProviderName, Sender>> = {
  discord: DISCORD_SENDER,
  github: GITHUB_SENDER,
  gitlab: GITLAB_SENDER,
  hubspot: HUBSPOT_SENDER,
  lemon_squeezy: LEMON_SQUEEZY_SENDER,
  linear: LINEAR_SENDER,
  mailgun: MAILGUN_SENDER,
  paddle: PADDLE_SENDER,
  paypal: PAYPAL_SENDER,
  sendgrid: SENDGRID_SENDER,
  sentry: SENTRY_SENDER,
  shopify: SHOPIFY_SENDER,
  slack: SLACK_SENDER,
  square: SQUARE_SENDER,
  standard_webhooks: STANDARD_WEBHOOKS_SENDER,
  stripe: STRIPE_SENDER,
  twilio: TWILIO_SENDER,
  vercel: VERCEL_SENDER,
  workos: WORKOS_SENDER,
  zoom: ZOOM_SENDER,
};
