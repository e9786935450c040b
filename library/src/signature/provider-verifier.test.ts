import { describe, expect, it } from "vitest";
import { hmac } from "./schemes/hmac.js";
import { httpSignature } from "./schemes/http-signature.js";
import { paypal } from "./schemes/paypal.js";
import { resend } from "./schemes/standard-senders.js";
import { stripe } from "./schemes/stripe.js";

const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const described = { name: "acme", header: "x-signature", encoding: "hex", retryHorizonS: 0, secrets };
const keys = { keys: [] };

describe("an option that a provider's scheme does not know is refused, with the name that was meant", () => {
  const misspelt: readonly (readonly [string, () => unknown, string])[] = [
    [
      "of Stripe",
      () => stripe({ secrets, toleranceSec: 9 } as never),
      '"toleranceSec" is no option of Stripe; did you mean "toleranceS"?',
    ],
    [
      "of Stripe, in its number",
      () => stripe({ secret: secrets } as never),
      '"secret" is no option of Stripe; did you mean "secrets"?',
    ],
    [
      "of a sender of Standard Webhooks",
      () => resend({ secrets, observr: () => {} } as never),
      '"observr" is no option of Resend; did you mean "observer"?',
    ],
    [
      "of a described provider",
      () => hmac({ ...described, prefx: "v1=" } as never),
      '"prefx" is no option of acme; did you mean "prefix"?',
    ],
    [
      "of PayPal",
      () => paypal({ webhookId: "w", keys, certificates: "c" } as never),
      '"certificates" is no option of PayPal; did you mean "certificate"?',
    ],
    [
      "of HTTP signatures",
      () => httpSignature({ keys, publicUrl: "https://example.com", mustcover: [] } as never),
      '"mustcover" is no option of HTTP Message Signatures (RFC 9421); did you mean "mustCover"?',
    ],
  ];
  it.each(misspelt)("%s", (_, make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: "option_invalid", message }));
  });
});

it("no options at all are told as the secret that is missing", () => {
  for (const given of [undefined, secrets])
    expect(() => stripe(given as never)).toThrow(expect.objectContaining({ code: "secret_missing" }));
});
