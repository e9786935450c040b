/**
 * `posthorn/providers`: the signing schemes of well-known senders, one function each.
 *
 * @module
 */
export { keySetFromCertificate } from "./signature/keys/certificate.js";
export type { PlaceOption } from "./place.js";
export type { HmacOptions } from "./signature/hmac-options.js";
export { PROVIDER_SCHEMES } from "./signature/schemes/all.js";
export { DISCORD, discord } from "./signature/schemes/discord.js";
export { GITHUB, github } from "./signature/schemes/github.js";
export { GITLAB, gitlab } from "./signature/schemes/gitlab.js";
export { hmac } from "./signature/schemes/hmac.js";
export { HUBSPOT, hubspot } from "./signature/schemes/hubspot.js";
export { LEMON_SQUEEZY, lemonSqueezy } from "./signature/schemes/lemon-squeezy.js";
export { LINEAR, linear } from "./signature/schemes/linear.js";
export { MAILGUN, mailgun } from "./signature/schemes/mailgun.js";
export { PADDLE, paddle } from "./signature/schemes/paddle.js";
export { PAYPAL, paypal } from "./signature/schemes/paypal.js";
export type { PaypalOptions } from "./signature/schemes/paypal.js";
export { SENDGRID, sendgrid } from "./signature/schemes/sendgrid.js";
export { SENTRY, sentry } from "./signature/schemes/sentry.js";
export { SHOPIFY, shopify } from "./signature/schemes/shopify.js";
export { SLACK, slack } from "./signature/schemes/slack.js";
export { SQUARE, square } from "./signature/schemes/square.js";
export { STANDARD_WEBHOOKS, standardWebhooks } from "./signature/schemes/standard.js";
export { STRIPE, stripe } from "./signature/schemes/stripe.js";
export { TWILIO, twilio } from "./signature/schemes/twilio.js";
export { VERCEL, vercel } from "./signature/schemes/vercel.js";
export { WORKOS, workos } from "./signature/schemes/workos.js";
export { ZOOM, zoom } from "./signature/schemes/zoom.js";
