import { encodeBase64 } from "../../bytes.js";
import { shopify } from "../../signature/schemes/shopify.js";
import { bySecret, numberOf, uuidOf } from "./sender.js";
import type { Sender } from "./sender.js";

export const SHOPIFY_SENDER: Sender = {
  type: "orders/create",
  id: uuidOf,
  bind: bySecret(shopify),
  write: ({ id = "", type, time, data, nonce }, attempt) => ({
    headers: {
      "x-shopify-topic": type,
      "x-shopify-shop-domain": "example.myshopify.com",
      "x-shopify-api-version": "2026-07",
      "x-shopify-webhook-id": id,
      "x-shopify-event-id": attempt.nonce,
      "x-shopify-triggered-at": time.toISOString(),
      "x-shopify-hmac-sha256": encodeBase64(attempt.signatures[0] ?? new Uint8Array()),
    },
    body: { id: numberOf(nonce), name: "#1001", total_price: "20.00", currency: "USD", ...data },
  }),
};
