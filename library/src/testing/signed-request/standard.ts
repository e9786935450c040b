import { produce } from "#crypto";
import { encodeBase64 } from "../../bytes.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import { createSigner } from "../../signature/sign.js";
import { unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

const ED25519_BYTES = 64;

export const STANDARD_WEBHOOKS_SENDER: Sender = {
  type: "invoice.paid",
  id: (nonce) => `msg_${nonce.slice(0, 27)}`,
  signsWithAll: true,
  bind: ({ secrets, clock }) => ({
    // Reading a request takes no key, and a `whsk_` key that signs would be refused by a verifier.
    verifier: standardWebhooks({ keys: { keys: [] }, clock }),
    signers: createSigner({ secrets, clock }).keys.map((key) => (content) => produce(key, content)),
  }),
  write: ({ id = "", type, time, data, nonce }, { at, signatures }) => ({
    headers: {
      "webhook-id": id,
      "webhook-timestamp": String(unixSeconds(at)),
      "webhook-signature": signatures.map(entry).join(" "),
    },
    body: { type, timestamp: time.toISOString(), data: { id: `in_${nonce.slice(0, 24)}`, ...data } },
  }),
};

function entry(signature: Uint8Array): string {
  const version = signature.length === ED25519_BYTES ? "v1a" : "v1";
  return `${version},${encodeBase64(signature)}`;
}
