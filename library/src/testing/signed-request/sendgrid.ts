import { encodeBase64 } from "../../bytes.js";
import { splitEcdsa } from "../../signature/encoding/ecdsa-der.js";
import { sendgrid } from "../../signature/schemes/sendgrid.js";
import { ecdsaSigner } from "./private-key.js";
import { unixSeconds } from "./sender.js";
import type { PlannedEvent, Sender } from "./sender.js";

export const SENDGRID_SENDER: Sender = {
  type: "delivered",
  id: (nonce) => nonce.slice(0, 22),
  bind: ({ secrets, clock }) => ({
    // Reading a request takes no key.
    verifier: sendgrid({ keys: { keys: [] }, clock }),
    signers: secrets.map(ecdsaSigner),
  }),
  write: (event, { at, signatures: [signature = new Uint8Array(64)] }) => ({
    headers: {
      "x-twilio-email-event-webhook-timestamp": String(unixSeconds(at)),
      "x-twilio-email-event-webhook-signature": encodeBase64(splitEcdsa(signature)),
    },
    body: batch([event]),
  }),
  batch,
};

function batch(events: readonly PlannedEvent[]): unknown {
  return events.map(({ id, type, time, data, nonce }) => ({
    email: "alice@example.com",
    timestamp: unixSeconds(time),
    event: type,
    sg_event_id: id,
    sg_message_id: `${nonce.slice(0, 22)}.filter0001.1.0`,
    ...data,
  }));
}
