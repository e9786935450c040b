import type { Subject } from "../subject.js";
import { ADYEN } from "./adyen.js";
import { CHARGEBEE } from "./chargebee.js";
import { DISCORD } from "./discord.js";
import { WEBHOOKS, WEBHOOKS_METHODS } from "./github.js";
import { HTTP_MESSAGE_SIGNATURES } from "./http-signature.js";
import { HUBSPOT } from "./hubspot.js";
import { LINEAR } from "./linear.js";
import { NOTION } from "./notion.js";
import { PADDLE } from "./paddle.js";
import { SENDGRID } from "./sendgrid.js";
import { SHOPIFY } from "./shopify.js";
import { BOLT } from "./slack.js";
import { SQUARE } from "./square.js";
import { ANTHROPIC, CLERK, OPENAI, POLAR, REPLICATE, RESEND } from "./standard-senders.js";
import { STANDARDWEBHOOKS, SVIX } from "./standard-webhooks.js";
import { STRIPE } from "./stripe.js";
import { TWILIO } from "./twilio.js";
import { WEBFLOW } from "./webflow.js";
import { WORKOS } from "./workos.js";

export const HMAC_SUBJECTS: readonly Subject[] = [
  STANDARDWEBHOOKS,
  SVIX,
  STRIPE,
  WEBHOOKS_METHODS,
  WEBHOOKS,
  BOLT,
  TWILIO,
  PADDLE,
  SQUARE,
  LINEAR,
  SHOPIFY,
  HUBSPOT,
  WORKOS,
];

export const MORE_HMAC_SUBJECTS: readonly Subject[] = [
  OPENAI,
  ANTHROPIC,
  CLERK,
  RESEND,
  REPLICATE,
  POLAR,
  NOTION,
  WEBFLOW,
  ADYEN,
  CHARGEBEE,
];

/** In a test file of their own, because they take as long as all others. */
export const PUBLIC_KEY_SUBJECTS: readonly Subject[] = [SENDGRID, DISCORD, HTTP_MESSAGE_SIGNATURES];

/** Every official library that verifies, in the order of docs/differences.md. */
export const SUBJECTS: readonly Subject[] = [...HMAC_SUBJECTS, ...MORE_HMAC_SUBJECTS, ...PUBLIC_KEY_SUBJECTS];
