import { encodeBase64 } from "../../bytes.js";
import { square } from "../../signature/schemes/square.js";
import { bySecret, splitType, uuidOf } from "./sender.js";
import type { Sender } from "./sender.js";

export const SQUARE_SENDER: Sender = {
  type: "payment.created",
  id: uuidOf,
  bind: bySecret(square),
  write: ({ id, type, time, data, nonce }, { signatures: [signature = new Uint8Array()] }) => {
    const [subject] = splitType(type);
    return {
      headers: { "x-square-hmacsha256-signature": encodeBase64(signature) },
      body: {
        merchant_id: "6SSW7HV8K2ST5",
        type,
        event_id: id,
        created_at: time.toISOString(),
        data: { type: subject, id: nonce, object: { [subject]: { id: nonce, status: "APPROVED", ...data } } },
      },
    };
  },
};
