import { createHmac } from "node:crypto";
import { stripe } from "posthorn/providers";
import { Stripe } from "stripe";
import type { Chance } from "../../chance.js";
import {
  changeBody,
  changeSecret,
  changeSignature,
  changeTimeAfter,
  changeTimeBefore,
  drawBody,
  drawTime,
  dropHeader,
  NOW_S,
} from "../changes.js";
import type { Change, Parts } from "../sample.js";
import type { Subject } from "../subject.js";
import {
  ANY_LENGTH,
  COMPARES_HEX,
  DECODES_BODY,
  FUTURE,
  header,
  ignoresTail,
  LOOSE_TIME,
  STRIPS_BOM,
  tooManyEntries,
} from "./common-differences.js";

const HEADER = "stripe-signature";

export const STRIPE: Subject = {
  library: "stripe",
  verifier: "stripe.webhooks.signature.verifyHeader(payload, header, secret, 300)",
  create: stripe,
  draw: (chance) => ({
    secret: `whsec_${chance.bytes(16).toString("hex")}`,
    id: "",
    time: String(drawTime(chance, 300)),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign,
  accepts: ({ secret, headers, body }) =>
    Stripe.webhooks.signature?.verifyHeader(
      body,
      headers[HEADER] ?? "",
      secret,
      300,
      undefined,
      NOW_S * 1000,
    ),
  differences: [
    ANY_LENGTH,
    LOOSE_TIME,
    FUTURE,
    ...DECODES_BODY,
    ...STRIPS_BOM,
    COMPARES_HEX,
    tooManyEntries(","),
    ignoresTail("=", "signature_unsupported"),
    {
      name: "rejects spaces between entries",
      library: "rejects",
      when: (sample) => /, | ,|^ | $/.test(header(sample, HEADER)),
      what: "takes the space after a comma for a part of the next entry's name",
      why: "proxies that join headers add spaces; they change nothing of what is said",
    },
    {
      name: "rejects all because of one damaged entry",
      library: "rejects",
      when: (sample) => /(^|,)v1=?(,|$)|[^\x20-\x7e]/.test(header(sample, HEADER)),
      what: "throws on an empty `v1=` or one with letters beyond ASCII, also where a right one stands beside it",
      why: "an entry that is no digest is passed over, as one of an unknown version is",
    },
    {
      name: "accepts two times",
      library: "accepts",
      code: "header_malformed",
      when: (sample) => (header(sample, HEADER).match(/(^|,)\s*t=/g) ?? []).length > 1,
      what: "takes the last of several times",
      why: "two readers may take different ones",
    },
  ],
};

function sign({ secret, time, body }: Parts): { headers: Record<string, string> } {
  const digest = createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
  return { headers: { [HEADER]: `t=${time},v1=${digest}` } };
}

function change(chance: Chance): Change {
  switch (chance.below(8)) {
    case 0:
    case 1:
      return changeBody(chance);
    case 2:
      return changeSecret(chance);
    case 3:
      return changeTimeBefore(chance);
    case 4:
      return changeTimeAfter(chance, HEADER, /(?:^|,)t=([^,]*)/);
    case 5:
      return dropHeader(chance, [HEADER]);
    default:
      return changeSignature(chance, { header: HEADER, list: { separator: ",", prefix: "v1=" } });
  }
}
