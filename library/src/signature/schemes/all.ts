import type { DescribedScheme } from "../scheme.js";
import { ADYEN } from "./adyen.js";
import { ASANA } from "./asana.js";
import { AUTH0 } from "./auth0.js";
import { CHARGEBEE, POSTMARK } from "./basic-auth.js";
import { BITBUCKET } from "./bitbucket.js";
import { CAL_COM } from "./cal-com.js";
import { CALENDLY } from "./calendly.js";
import { CIRCLECI } from "./circleci.js";
import { DISCORD } from "./discord.js";
import { DOCUSIGN } from "./docusign.js";
import { FIGMA } from "./figma.js";
import { GITHUB } from "./github.js";
import { GITLAB } from "./gitlab.js";
import { HTTP_SIGNATURE } from "./http-signature.js";
import { HUBSPOT } from "./hubspot.js";
import { INTERCOM } from "./intercom.js";
import { LEMON_SQUEEZY } from "./lemon-squeezy.js";
import { LINEAR } from "./linear.js";
import { MAILGUN } from "./mailgun.js";
import { NOTION } from "./notion.js";
import { PADDLE } from "./paddle.js";
import { PAYPAL } from "./paypal.js";
import { SENDGRID } from "./sendgrid.js";
import { SENTRY } from "./sentry.js";
import { SHOPIFY } from "./shopify.js";
import { SLACK } from "./slack.js";
import { SQUARE } from "./square.js";
import { STANDARD_WEBHOOKS } from "./standard.js";
import { ANTHROPIC, CLERK, OPENAI, POLAR, REPLICATE, RESEND, SUPABASE } from "./standard-senders.js";
import { STRIPE } from "./stripe.js";
import { TWILIO } from "./twilio.js";
import { TYPEFORM } from "./typeform.js";
import { VERCEL } from "./vercel.js";
import { WEBFLOW } from "./webflow.js";
import { WOOCOMMERCE } from "./woocommerce.js";
import { WORKOS } from "./workos.js";
import { ZOOM } from "./zoom.js";

/** Every scheme that is known by name, in alphabetical order. docs/providers.md is printed from it. */
export const PROVIDER_SCHEMES: readonly DescribedScheme[] = [
  ADYEN,
  ANTHROPIC,
  ASANA,
  AUTH0,
  BITBUCKET,
  CAL_COM,
  CALENDLY,
  CHARGEBEE,
  CIRCLECI,
  CLERK,
  DISCORD,
  DOCUSIGN,
  FIGMA,
  GITHUB,
  GITLAB,
  HTTP_SIGNATURE,
  HUBSPOT,
  INTERCOM,
  LEMON_SQUEEZY,
  LINEAR,
  MAILGUN,
  NOTION,
  OPENAI,
  PADDLE,
  PAYPAL,
  POLAR,
  POSTMARK,
  REPLICATE,
  RESEND,
  SENDGRID,
  SENTRY,
  SHOPIFY,
  SLACK,
  SQUARE,
  STANDARD_WEBHOOKS,
  STRIPE,
  SUPABASE,
  TWILIO,
  TYPEFORM,
  VERCEL,
  WEBFLOW,
  WOOCOMMERCE,
  WORKOS,
  ZOOM,
];
