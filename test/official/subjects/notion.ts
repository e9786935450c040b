import { createHmac } from "node:crypto";
import { verifyWebhookSignature } from "@notionhq/client";
import { notion } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret, changeSignature, drawBody, dropHeader } from "../changes.js";
import type { Change } from "../sample.js";
import type { Subject } from "../subject.js";

const HEADER = "x-notion-signature";

export const NOTION: Subject = {
  library: "@notionhq/client",
  verifier: "verifyWebhookSignature({ body, signature, verificationToken })",
  create: notion,
  draw: (chance) => ({
    secret: `secret_${chance.bytes(16).toString("hex")}`,
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
  accepts: ({ secret, headers, body }) =>
    verifyWebhookSignature({ body, signature: headers[HEADER], verificationToken: secret }),
  differences: [],
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
