import { createHmac } from "node:crypto";
import { square } from "posthorn/providers";
import { WebhooksHelper } from "square";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret, changeSignature, drawBody, dropHeader } from "../changes.js";
import type { Change } from "../sample.js";
import { after } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_BASE64, DECODES_BODY } from "./common-differences.js";

const HEADER = "x-square-hmacsha256-signature";

export const SQUARE: Subject = {
  library: "square",
  verifier: "WebhooksHelper.verifySignature({ requestBody, signatureHeader, signatureKey, notificationUrl })",
  create: square,
  draw: (chance) => ({
    secret: chance.bytes(12).toString("base64"),
    id: "",
    time: "",
    body: drawBody(chance),
    url: chance.pick(["https://example.com/hooks", "https://example.com/hooks?a=1", "https://example.com"]),
    method: "POST",
  }),
  change,
  sign: ({ secret, url, body }) => ({
    headers: { [HEADER]: createHmac("sha256", secret).update(url).update(body).digest("base64") },
  }),
  accepts: ({ secret, headers, body, url }) =>
    WebhooksHelper.verifySignature({
      requestBody: body.toString(),
      signatureHeader: headers[HEADER] ?? "",
      signatureKey: secret,
      notificationUrl: url,
    }),
  differences: [...DECODES_BODY, COMPARES_BASE64],
};

function change(chance: Chance): Change {
  switch (chance.below(7)) {
    case 0:
    case 1:
      return changeBody(chance);
    case 2:
      return changeSecret(chance);
    case 3:
      return dropHeader(chance, [HEADER]);
    case 4: {
      const url = chance.pick([
        "http://example.com/hooks",
        "https://example.com/hooks/",
        "https://example.com:443/hooks",
      ]);
      return after("another url", (sample) => ({ ...sample, url }));
    }
    default:
      return changeSignature(chance, { header: HEADER });
  }
}
