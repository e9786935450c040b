import { encodeHex } from "../../bytes.js";
import { mailgun } from "../../signature/schemes/mailgun.js";
import { bySecret, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const MAILGUN_SENDER: Sender = {
  type: "delivered",
  // A token of fifty characters.
  id: (nonce) => nonce + nonce.slice(0, 18),
  bind: bySecret(mailgun),
  write: ({ id, type, time, data, nonce }, { at, signatures: [signature] }) => ({
    headers: {},
    body: {
      signature: {
        timestamp: String(unixSeconds(at)),
        token: id,
        signature: encodeHex(signature ?? new Uint8Array()),
      },
      "event-data": {
        event: type,
        id: nonce.slice(0, 22),
        timestamp: unixSeconds(time),
        recipient: "alice@example.com",
        message: { headers: { "message-id": `${nonce}@example.com` } },
        ...data,
      },
    },
  }),
};
