import { encodeBase64 } from "../../bytes.js";
import { adyen } from "../../signature/schemes/adyen.js";
import { bySecret } from "./sender.js";
import type { Sender } from "./sender.js";

/** An id is what the scheme makes of reference, event and success; a reference cannot be asked for without them. */
export const ADYEN_SENDER: Sender = {
  type: "AUTHORISATION",
  bind: bySecret(adyen),
  write: ({ id, type, time, data, nonce }, { signatures: [signature = new Uint8Array(32)] }) => ({
    headers: {},
    body: {
      live: "false",
      notificationItems: [
        {
          NotificationRequestItem: {
            merchantAccountCode: "PosthornExample",
            merchantReference: `order-${nonce.slice(0, 8)}`,
            amount: { currency: "EUR", value: 2000 },
            paymentMethod: "visa",
            success: "true",
            ...data,
            pspReference: id?.split(":", 1)[0] ?? nonce.slice(0, 16).toUpperCase(),
            eventCode: type,
            eventDate: time.toISOString(),
            additionalData: { hmacSignature: encodeBase64(signature) },
          },
        },
      ],
    },
  }),
};
