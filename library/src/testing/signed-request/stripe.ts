import { encodeHex } from "../../bytes.js";
import { stripe } from "../../signature/schemes/stripe.js";
import { bySecret, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const STRIPE_SENDER: Sender = {
  type: "invoice.paid",
  id: (nonce) => `evt_${nonce.slice(0, 24)}`,
  signsWithAll: true,
  bind: bySecret(stripe),
  write: ({ id, type, time, data, nonce }, { at, signatures }) => ({
    headers: {
      "stripe-signature": [
        `t=${unixSeconds(at)}`,
        ...signatures.map((signature) => `v1=${encodeHex(signature)}`),
      ].join(","),
    },
    body: {
      id,
      object: "event",
      api_version: "2026-06-30",
      created: unixSeconds(time),
      type,
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      data: {
        object: {
          id: `in_${nonce.slice(0, 24)}`,
          object: "invoice",
          // The same each time: who orders by customer sees the samples in one lane.
          customer: "cus_posthorn",
          amount_paid: 2000,
          currency: "usd",
          ...data,
        },
      },
    },
  }),
};
