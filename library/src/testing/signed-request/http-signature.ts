import { sha256 } from "#crypto";
import { encodeBase64 } from "../../bytes.js";
import { HTTP_SIGNATURE } from "../../signature/schemes/http-signature.js";
import { createVerifier } from "../../signature/verifier.js";
import { ed25519Signer } from "./private-key.js";
import { unixSeconds, uuidOf } from "./sender.js";
import type { Sender } from "./sender.js";

/** A sender with an Ed25519 key, whose seed is the secret. */
export const HTTP_SIGNATURE_SENDER: Sender = {
  type: "invoice.paid",
  id: uuidOf,
  bind: ({ secrets, clock }) => ({
    // Reading a request takes no key. Whoever signs it says which URL it is for, so there is no receiver's own to compare with.
    verifier: createVerifier(HTTP_SIGNATURE, { keys: { keys: [] }, clock }, parseNone),
    signers: secrets.map(ed25519Signer),
  }),
  write: ({ id, type, time, data, nonce }, { at, signatures: [signature = new Uint8Array(64)] }) => ({
    headers: {
      "signature-input": `sig1=("@method" "@target-uri" "content-digest");created=${unixSeconds(at)};keyid="test";alg="ed25519"`,
      signature: `sig1=:${encodeBase64(signature)}:`,
    },
    body: { id, type, time: time.toISOString(), data: { id: `in_${nonce.slice(0, 24)}`, ...data } },
  }),
  digest: async (body) => ({ "content-digest": `sha-256=:${encodeBase64(await sha256(body))}:` }),
};

function parseNone(): never {
  throw new Error("the sender's verifier has no secrets to parse");
}
