import { encodeHex } from "../../bytes.js";
import { linear } from "../../signature/schemes/linear.js";
import { bySecret, splitType, uuidOf } from "./sender.js";
import type { Sender } from "./sender.js";

export const LINEAR_SENDER: Sender = {
  type: "Issue.create",
  id: uuidOf,
  bind: bySecret(linear),
  write: ({ id = "", type, time, data, nonce }, { at, signatures: [signature = new Uint8Array()] }) => {
    const [subject, action] = splitType(type);
    return {
      headers: {
        "linear-delivery": id,
        "linear-event": subject,
        "linear-timestamp": String(at.getTime()),
        "linear-signature": encodeHex(signature),
      },
      body: {
        ...(action === undefined ? {} : { action }),
        type: subject,
        createdAt: time.toISOString(),
        data: { id: uuidOf(nonce), number: 1, title: "An issue", ...data },
        url: "https://linear.app/example/issue/EX-1",
        organizationId: "8b8a3e4c-9d5b-4a53-b0a6-8e8d2d7a9f10",
        webhookId: "000042e3-d123-4980-b49f-8e140eef9329",
        // Signed with the body: the header beside it is not.
        webhookTimestamp: at.getTime(),
      },
    };
  },
};
