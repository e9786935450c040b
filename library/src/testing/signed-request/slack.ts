import { encodeHex } from "../../bytes.js";
import { slack } from "../../signature/schemes/slack.js";
import { bySecret, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const SLACK_SENDER: Sender = {
  type: "app_mention",
  id: (nonce) => `Ev${nonce.slice(0, 9).toUpperCase()}`,
  bind: bySecret(slack),
  write: ({ id, type, time, data }, { at, signatures: [signature = new Uint8Array()] }) => ({
    headers: {
      "x-slack-request-timestamp": String(unixSeconds(at)),
      "x-slack-signature": `v0=${encodeHex(signature)}`,
    },
    body: {
      type: "event_callback",
      team_id: "T061EG9R6",
      api_app_id: "A0KRD7HC3",
      event_id: id,
      event_time: unixSeconds(time),
      event: { type, user: "U061F7AUR", channel: "C0LAN2Q65", text: "Hello", ...data },
    },
  }),
};
