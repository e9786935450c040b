import { answer } from "#crypto";
import { encodeBase64 } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import { keyFromCertificate } from "../../signature/keys/certificate.js";
import type { Content } from "../../signature/crypto/question.js";
import { paypal } from "../../signature/schemes/paypal.js";
import type { SignatureErrorCode } from "../../signature/signature-errors.js";
import { TEST_WEBHOOK_ID } from "./fixture-keys.js";
import { rsaSigner } from "./private-key.js";
import type { Sender, Sign } from "./sender.js";

export const PAYPAL_SENDER: Sender = {
  type: "PAYMENT.CAPTURE.COMPLETED",
  id: (nonce) => `WH-${nonce.slice(0, 17)}-${nonce.slice(15)}`.toUpperCase(),
  bind: ({ secrets, webhookId = TEST_WEBHOOK_ID, certificate, clock }) => ({
    // Reading a request takes no certificate.
    verifier: paypal({ webhookId, keys: { keys: [] }, clock }),
    signers: secrets.map((secret) => withCertificate(rsaSigner(secret), certificate)),
  }),
  write: ({ id, type, time, data, nonce }, { at, nonce: delivery, signatures: [signature] }) => ({
    headers: {
      "paypal-transmission-id": delivery,
      "paypal-transmission-time": withoutMs(at),
      "paypal-cert-url": "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-posthorn-test",
      "paypal-auth-algo": "SHA256withRSA",
      "paypal-transmission-sig": encodeBase64(signature ?? new Uint8Array()),
    },
    body: {
      id,
      event_version: "1.0",
      create_time: time.toISOString(),
      resource_type: "capture",
      resource_version: "2.0",
      event_type: type,
      summary: "Payment completed for $ 20.00 USD",
      resource: {
        id: nonce.slice(0, 17).toUpperCase(),
        status: "COMPLETED",
        amount: { currency_code: "USD", value: "20.00" },
        ...data,
      },
    },
  }),
};

function withoutMs(time: Date): string {
  return time.toISOString().replace(/\.\d+/, "");
}

/** Signs, and refuses a certificate of another key: verifying would fail later, and say nothing of the pair. */
function withCertificate(sign: Sign, certificate: string | undefined): Sign {
  if (certificate === undefined) return sign;
  const key = keyFromCertificate(certificate, "certificate");
  return async (content: Content) => {
    const signature = await sign(content);
    if ((await answer({ key, content, signatures: [signature] })) >= 0) return signature;
    throw new PosthornError<SignatureErrorCode>(
      "option_invalid",
      "`certificate` is of another key than the private key in `secrets`; give both of one pair.",
    );
  };
}
