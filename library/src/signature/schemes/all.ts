import type { DescribedScheme } from "../scheme.js";
import { DISCORD } from "./discord.js";
import { GITHUB } from "./github.js";
import { GITLAB } from "./gitlab.js";
import { HUBSPOT } from "./hubspot.js";
import { LEMON_SQUEEZY } from "./lemon-squeezy.js";
import { LINEAR } from "./linear.js";
import { MAILGUN } from "./mailgun.js";
import { PADDLE } from "./paddle.js";
import { PAYPAL } from "./paypal.js";
import { SENDGRID } from "./sendgrid.js";
import { SENTRY } from "./sentry.js";
import { SHOPIFY } from "./shopify.js";
import { SLACK } from "./slack.js";
import { SQUARE } from "./square.js";
import { STANDARD_WEBHOOKS } from "./standard.js";
import { STRIPE } from "./stripe.js";
import { TWILIO } from "./twilio.js";
import { VERCEL } from "./vercel.js";
import { WORKOS } from "./workos.js";
import { ZOOM } from "./zoom.js";

/** Every scheme that is known by name, in alphabetical order. docs/providers.md is printed from it. */
export const PROVIDER_SCHEMES: readonly DescribedScheme[] = [
  DISCORD,
  GITHUB,
  GITLAB,
  HUBSPOT,
  LEMON_SQUEEZY,
  LINEAR,
  MAILGUN,
  PADDLE,
  PAYPAL,
  SENDGRID,
  SENTRY,
  SHOPIFY,
  SLACK,
  SQUARE,
  STANDARD_WEBHOOKS,
  STRIPE,
  TWILIO,
  VERCEL,
  WORKOS,
  ZOOM,
];
