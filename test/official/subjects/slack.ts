import { createHmac } from "node:crypto";
import { verifySlackRequest } from "@slack/bolt";
import { slack } from "posthorn/providers";
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
import type { Change } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_HEX, DECODES_BODY, FUTURE, ignoresTail } from "./common-differences.js";

const SIGNATURE = "x-slack-signature";
const TIME = "x-slack-request-timestamp";

export const BOLT: Subject = {
  library: "@slack/bolt",
  verifier: "verifySlackRequest({ signingSecret, body, headers })",
  create: slack,
  draw: (chance) => ({
    secret: chance.bytes(16).toString("hex"),
    id: "",
    time: String(drawTime(chance, 300)),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret, time, body }) => {
    const digest = createHmac("sha256", secret).update(`v0:${time}:`).update(body).digest("hex");
    return { headers: { [SIGNATURE]: `v0=${digest}`, [TIME]: time } };
  },
  // The receivers of the library hand the header's text over as it is, whatever the type says.
  accepts: (sample) => {
    const headers = { [SIGNATURE]: sample.headers[SIGNATURE], [TIME]: sample.headers[TIME] } as never;
    const body = sample.body.toString();
    verifySlackRequest({ signingSecret: sample.secret, body, headers, nowMilliseconds: NOW_S * 1000 });
    return true;
  },
  differences: [
    {
      name: "accepts times that are no numbers",
      library: "accepts",
      code: "timestamp_malformed",
      what: "compares the header's text with a number, so that a text that is no number is never too old",
      why: "a signed request with such a time could be replayed for ever; only plain digits are a time",
    },
    FUTURE,
    ...DECODES_BODY,
    COMPARES_HEX,
    ignoresTail("=", "header_malformed"),
  ],
};

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
      return changeTimeAfter(chance, TIME, /^(.*)$/s);
    case 5:
      return dropHeader(chance, [SIGNATURE, TIME]);
    default:
      return changeSignature(chance, { header: SIGNATURE });
  }
}
