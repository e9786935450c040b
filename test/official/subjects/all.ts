import type { Subject } from "../subject.js";
import { DISCORD } from "./discord.js";
import { WEBHOOKS, WEBHOOKS_METHODS } from "./github.js";
import { HUBSPOT } from "./hubspot.js";
import { LINEAR } from "./linear.js";
import { PADDLE } from "./paddle.js";
import { SENDGRID } from "./sendgrid.js";
import { SHOPIFY } from "./shopify.js";
import { BOLT } from "./slack.js";
import { SQUARE } from "./square.js";
import { STANDARDWEBHOOKS, SVIX } from "./standard-webhooks.js";
import { STRIPE } from "./stripe.js";
import { TWILIO } from "./twilio.js";
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

/** In a test file of their own, because they take as long as all others. */
export const PUBLIC_KEY_SUBJECTS: readonly Subject[] = [SENDGRID, DISCORD];

/** Every official library that verifies, in the order of docs/differences.md. */
export const SUBJECTS: readonly Subject[] = [...HMAC_SUBJECTS, ...PUBLIC_KEY_SUBJECTS];
