import { createHmac } from "node:crypto";
import { Webhooks } from "@octokit/webhooks";
import { verify } from "@octokit/webhooks-methods";
import { github } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret, changeSignature, drawBody, dropHeader } from "../changes.js";
import type { Change } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_HEX, DECODES_BODY, EMPTY_BODY } from "./common-differences.js";

const HEADER = "x-hub-signature-256";

export const WEBHOOKS_METHODS: Subject = {
  library: "@octokit/webhooks-methods",
  verifier: "verify(secret, payload, signature)",
  create: github,
  draw: (chance) => ({
    secret: chance.bytes(12).toString("hex"),
    id: "",
    time: "",
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret, body }) => ({
    headers: { [HEADER]: `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` },
  }),
  accepts: ({ secret, headers, body }) => verify(secret, body.toString(), headers[HEADER] ?? ""),
  differences: [...DECODES_BODY, EMPTY_BODY, COMPARES_HEX],
};

export const WEBHOOKS: Subject = {
  ...WEBHOOKS_METHODS,
  library: "@octokit/webhooks",
  verifier: "new Webhooks({ secret }).verify(payload, signature)",
  accepts: ({ secret, headers, body }) =>
    new Webhooks({ secret }).verify(body.toString(), headers[HEADER] ?? ""),
};

function change(chance: Chance): Change {
  switch (chance.below(6)) {
    case 0:
    case 1:
      return changeBody(chance);
    case 2:
      return changeSecret(chance);
    case 3:
      return dropHeader(chance, [HEADER]);
    default:
      return changeSignature(chance, { header: HEADER });
  }
}
