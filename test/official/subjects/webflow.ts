import { createHmac } from "node:crypto";
import { webflow } from "posthorn/providers";
import { WebflowClient } from "webflow-api";
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
} from "../changes.js";
import type { Change } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_HEX, DECODES_BODY } from "./common-differences.js";

const SIGNATURE = "x-webflow-signature";
const TIME = "x-webflow-timestamp";
const client = new WebflowClient({ accessToken: "unused" });

export const WEBFLOW: Subject = {
  library: "webflow-api",
  verifier: "client.webhooks.verifySignature({ headers, body, secret })",
  create: webflow,
  draw: (chance) => ({
    secret: chance.bytes(32).toString("hex"),
    id: "",
    time: String(drawTime(chance, 300) * 1000 + chance.pick([0, 0, 1, 999])),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret, time, body }) => ({
    headers: {
      [SIGNATURE]: createHmac("sha256", secret).update(`${time}:`).update(body).digest("hex"),
      [TIME]: time,
    },
  }),
  accepts: ({ secret, headers, body }) =>
    client.webhooks.verifySignature({ headers: { ...headers }, body: body.toString(), secret }),
  differences: [
    {
      name: "accepts any time",
      library: "accepts",
      code: ["timestamp_out_of_range", "timestamp_malformed"],
      what: "never looks at the time, so that a captured request can be replayed for ever",
      why: "the time is signed so that it can be held to the clock: Webflow's documentation asks for five minutes",
    },
    ...DECODES_BODY,
    COMPARES_HEX,
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
