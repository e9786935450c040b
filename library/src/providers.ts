/**
 * `posthorn/providers`: the signing schemes of well-known senders, one function each.
 *
 * @module
 */
export { keySetFromCertificate } from "./signature/keys/certificate.js";
export type { PlaceOption } from "./place.js";
export type { HmacOptions } from "./signature/hmac-options.js";
export { PROVIDER_SCHEMES } from "./signature/schemes/all.js";
export type { RsaAlgorithm } from "./signature/keys/public-key.js";
export { ADYEN, adyen } from "./signature/schemes/adyen.js";
export { ASANA, asana } from "./signature/schemes/asana.js";
export { AUTH0, auth0 } from "./signature/schemes/auth0.js";
export { CHARGEBEE, chargebee, POSTMARK, postmark } from "./signature/schemes/basic-auth.js";
export { BITBUCKET, bitbucket } from "./signature/schemes/bitbucket.js";
export { CAL_COM, calCom } from "./signature/schemes/cal-com.js";
export { CALENDLY, calendly } from "./signature/schemes/calendly.js";
export { CIRCLECI, circleci } from "./signature/schemes/circleci.js";
export { DISCORD, discord } from "./signature/schemes/discord.js";
export { DOCUSIGN, docusign } from "./signature/schemes/docusign.js";
export { FIGMA, figma } from "./signature/schemes/figma.js";
export { GITHUB, github } from "./signature/schemes/github.js";
export { GITLAB, gitlab } from "./signature/schemes/gitlab.js";
export { hmac } from "./signature/schemes/hmac.js";
export { HTTP_SIGNATURE, httpSignature } from "./signature/schemes/http-signature.js";
export type { HttpSignatureOptions } from "./signature/schemes/http-signature.js";
export { HUBSPOT, hubspot } from "./signature/schemes/hubspot.js";
export { INTERCOM, intercom } from "./signature/schemes/intercom.js";
export { LEMON_SQUEEZY, lemonSqueezy } from "./signature/schemes/lemon-squeezy.js";
export { LINEAR, linear } from "./signature/schemes/linear.js";
export { MAILGUN, mailgun } from "./signature/schemes/mailgun.js";
export { NOTION, notion } from "./signature/schemes/notion.js";
export { PADDLE, paddle } from "./signature/schemes/paddle.js";
export { PAYPAL, paypal } from "./signature/schemes/paypal.js";
export type { PaypalOptions } from "./signature/schemes/paypal.js";
export { SENDGRID, sendgrid } from "./signature/schemes/sendgrid.js";
export { SENTRY, sentry } from "./signature/schemes/sentry.js";
export { SHOPIFY, shopify } from "./signature/schemes/shopify.js";
export { SLACK, slack } from "./signature/schemes/slack.js";
export { SQUARE, square } from "./signature/schemes/square.js";
export {
  ANTHROPIC,
  anthropic,
  CLERK,
  clerk,
  OPENAI,
  openai,
  POLAR,
  polar,
  REPLICATE,
  replicate,
  RESEND,
  resend,
  SUPABASE,
  supabase,
} from "./signature/schemes/standard-senders.js";
export { STANDARD_WEBHOOKS, standardWebhooks } from "./signature/schemes/standard.js";
export { STRIPE, stripe } from "./signature/schemes/stripe.js";
export { TWILIO, twilio } from "./signature/schemes/twilio.js";
export { TYPEFORM, typeform } from "./signature/schemes/typeform.js";
export { VERCEL, vercel } from "./signature/schemes/vercel.js";
export { WEBFLOW, webflow } from "./signature/schemes/webflow.js";
export { WOOCOMMERCE, woocommerce } from "./signature/schemes/woocommerce.js";
export { WORKOS, workos } from "./signature/schemes/workos.js";
export { ZOOM, zoom } from "./signature/schemes/zoom.js";
