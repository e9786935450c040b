import { encodeHex } from "../../bytes.js";
import { zoom } from "../../signature/schemes/zoom.js";
import { bySecret, numberOf, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const ZOOM_SENDER: Sender = {
  type: "meeting.started",
  bind: bySecret(zoom),
  write: ({ type, time, data, nonce }, { at, signatures: [signature = new Uint8Array()] }) => ({
    headers: {
      "x-zm-request-timestamp": String(unixSeconds(at)),
      "x-zm-signature": `v0=${encodeHex(signature)}`,
    },
    body: {
      event: type,
      event_ts: time.getTime(),
      payload: {
        account_id: "AAAAAABBBB",
        object: { id: String(numberOf(nonce)), topic: "My Meeting", type: 2, duration: 60, ...data },
      },
    },
  }),
};
