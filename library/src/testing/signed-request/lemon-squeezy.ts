import { encodeHex } from "../../bytes.js";
import { lemonSqueezy } from "../../signature/schemes/lemon-squeezy.js";
import { bySecret, numberOf } from "./sender.js";
import type { Sender } from "./sender.js";

export const LEMON_SQUEEZY_SENDER: Sender = {
  type: "order_created",
  bind: bySecret(lemonSqueezy),
  write: ({ type, data, nonce }, { signatures: [signature = new Uint8Array()] }) => ({
    headers: { "x-event-name": type, "x-signature": encodeHex(signature) },
    body: {
      meta: { test_mode: true, event_name: type, custom_data: {} },
      data: {
        type: "orders",
        id: String(numberOf(nonce)),
        attributes: { status: "paid", total: 2000, currency: "USD", ...data },
      },
    },
  }),
};
