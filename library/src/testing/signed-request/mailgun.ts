import { encodeHex } from "../../bytes.js";
import { mailgun } from "../../signature/schemes/mailgun.js";
import { bySecret, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const MAILGUN_SENDER: Sender = {
  type: "delivered",
  id: (nonce) => nonce.slice(0, 22),
  bind: bySecret(mailgun),
  write: ({ id, type, time, data, nonce }, { at, nonce: delivery, signatures: [signature] }) => ({
    headers: {},
    body: {
      signature: {
        timestamp: String(unixSeconds(at)),
        token: delivery.replaceAll("-", ""),
        signature: encodeHex(signature ?? new Uint8Array()),
      },
      "event-data": {
        event: type,
        id,
        timestamp: unixSeconds(time),
        recipient: "alice@example.com",
        message: { headers: { "message-id": `${nonce}@example.com` } },
        ...data,
      },
    },
  }),
};
