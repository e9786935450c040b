import { encodeHex } from "../../bytes.js";
import { vercel } from "../../signature/schemes/vercel.js";
import { bySecret } from "./sender.js";
import type { Sender } from "./sender.js";

export const VERCEL_SENDER: Sender = {
  type: "deployment.succeeded",
  id: (nonce) => `uev_${nonce.slice(0, 24)}`,
  bind: bySecret(vercel),
  write: ({ id, type, time, data, nonce }, { signatures: [signature = new Uint8Array()] }) => ({
    headers: { "x-vercel-signature": encodeHex(signature) },
    body: {
      id,
      type,
      createdAt: time.getTime(),
      region: "iad1",
      payload: { deployment: { id: `dpl_${nonce.slice(0, 24)}`, name: "example" }, ...data },
    },
  }),
};
