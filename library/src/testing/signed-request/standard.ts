import { produce } from "#crypto";
import { encodeBase64 } from "../../bytes.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import { createSigner } from "../../signature/sign.js";
import { unixSeconds } from "./sender.js";
import type { Attempt, Sender } from "./sender.js";

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
  write: ({ id = "", type, time, data, nonce }, attempt) => ({
    headers: standardHeaders("webhook", id, attempt),
    body: { type, timestamp: time.toISOString(), data: { id: `in_${nonce.slice(0, 24)}`, ...data } },
  }),
};

/** The three headers of Standard Webhooks, under its own prefix or Svix's. */
export function standardHeaders(
  prefix: "webhook" | "svix",
  id: string,
  { at, signatures }: Attempt,
): Readonly<Record<string, string>> {
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(unixSeconds(at)),
    [`${prefix}-signature`]: signatures.map(entry).join(" "),
  };
}

function entry(signature: Uint8Array): string {
  const version = signature.length === ED25519_BYTES ? "v1a" : "v1";
  return `${version},${encodeBase64(signature)}`;
}
