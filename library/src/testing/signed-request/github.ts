import { encodeHex } from "../../bytes.js";
import { github } from "../../signature/schemes/github.js";
import { bySecret, numberOf, splitType, uuidOf } from "./sender.js";
import type { Sender } from "./sender.js";

export const GITHUB_SENDER: Sender = {
  type: "issues.opened",
  id: uuidOf,
  bind: bySecret(github),
  write: ({ id = "", type, data, nonce }, { signatures: [signature = new Uint8Array()] }) => {
    const [event, action] = splitType(type);
    return {
      headers: {
        "x-github-event": event,
        "x-github-delivery": id,
        "x-hub-signature-256": `sha256=${encodeHex(signature)}`,
      },
      body: {
        ...(action === undefined ? {} : { action }),
        issue: { id: numberOf(nonce), number: 1, title: "Spelling error in the README" },
        repository: { id: 1_296_269, full_name: "octocat/Hello-World" },
        sender: { id: 1, login: "octocat" },
        ...data,
      },
    };
  },
};
