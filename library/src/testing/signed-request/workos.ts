import { encodeHex } from "../../bytes.js";
import { workos } from "../../signature/schemes/workos.js";
import { bySecret } from "./sender.js";
import type { Sender } from "./sender.js";

export const WORKOS_SENDER: Sender = {
  type: "dsync.user.created",
  id: (nonce) => `event_${nonce.slice(0, 26).toUpperCase()}`,
  signsWithAll: true,
  bind: bySecret(workos),
  write: ({ id, type, time, data, nonce }, { at, signatures }) => ({
    headers: {
      "workos-signature": [
        `t=${at.getTime()}`,
        ...signatures.map((signature) => `v1=${encodeHex(signature)}`),
      ].join(", "),
    },
    body: {
      id,
      event: type,
      created_at: time.toISOString(),
      data: { id: `directory_user_${nonce.slice(0, 26).toUpperCase()}`, state: "active", ...data },
    },
  }),
};
