import type { KeySet } from "../../signature/keys/key.js";
import { gitlab } from "../../signature/schemes/gitlab.js";
import { numberOf, uuidOf } from "./sender.js";
import type { Sender } from "./sender.js";

const text = new TextDecoder();

export const GITLAB_SENDER: Sender = {
  type: "push",
  id: uuidOf,
  bind: ({ secrets, clock }) => {
    const verifier = gitlab({ secrets, clock });
    const { keys } = verifier.keys as KeySet;
    // Nothing is computed: the secret itself is sent.
    return { verifier, signers: keys.map((key) => () => Promise.resolve(key.material())) };
  },
  write: ({ id = "", type, data, nonce }, { nonce: delivery, signatures: [secret] }) => ({
    headers: {
      "x-gitlab-event": `${type.charAt(0).toUpperCase()}${type.slice(1).replaceAll("_", " ")} Hook`,
      "x-gitlab-event-uuid": delivery,
      "x-gitlab-instance": "https://gitlab.example.com",
      "idempotency-key": id,
      "x-gitlab-token": text.decode(secret),
    },
    body: {
      object_kind: type,
      ref: "refs/heads/main",
      checkout_sha: nonce,
      project_id: numberOf(nonce),
      project: { id: 15, name: "Diaspora", path_with_namespace: "mike/diaspora" },
      ...data,
    },
  }),
};
