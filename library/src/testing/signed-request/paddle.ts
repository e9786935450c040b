import { encodeHex } from "../../bytes.js";
import { paddle } from "../../signature/schemes/paddle.js";
import { bySecret, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const PADDLE_SENDER: Sender = {
  type: "transaction.completed",
  id: (nonce) => `evt_${nonce.slice(0, 26)}`,
  signsWithAll: true,
  bind: bySecret(paddle),
  write: ({ id, type, time, data, nonce }, { at, nonce: delivery, signatures }) => ({
    headers: {
      "paddle-signature": [
        `ts=${unixSeconds(at)}`,
        ...signatures.map((signature) => `h1=${encodeHex(signature)}`),
      ].join(";"),
    },
    body: {
      event_id: id,
      event_type: type,
      occurred_at: time.toISOString(),
      notification_id: `ntf_${delivery.replaceAll("-", "").slice(0, 26)}`,
      data: { id: `txn_${nonce.slice(0, 26)}`, status: "completed", currency_code: "USD", ...data },
    },
  }),
};
