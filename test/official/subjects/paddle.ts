import { createHmac } from "node:crypto";
import { Paddle } from "@paddle/paddle-node-sdk";
import { paddle } from "posthorn/providers";
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
import {
  ANY_LENGTH,
  COMPARES_HEX,
  DECODES_BODY,
  FUTURE,
  header,
  ignoresTail,
  LOOSE_TIME,
  tooManyEntries,
} from "./common-differences.js";

const HEADER = "paddle-signature";
const client = new Paddle("unused");

export const PADDLE: Subject = {
  library: "@paddle/paddle-node-sdk",
  verifier: "paddle.webhooks.isSignatureValid(body, secret, header)",
  create: paddle,
  draw: (chance) => ({
    secret: `pdl_ntfset_${chance.bytes(16).toString("hex")}`,
    id: "",
    time: String(drawTime(chance, 5)),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret, time, body }) => {
    const digest = createHmac("sha256", secret).update(`${time}:`).update(body).digest("hex");
    return { headers: { [HEADER]: `ts=${time};h1=${digest}` } };
  },
  accepts: ({ secret, headers, body }) =>
    client.webhooks.isSignatureValid(body.toString(), secret, headers[HEADER] ?? ""),
  differences: [
    ANY_LENGTH,
    LOOSE_TIME,
    FUTURE,
    ...DECODES_BODY,
    COMPARES_HEX,
    tooManyEntries(";"),
    ignoresTail("=", "signature_unsupported"),
    {
      name: "rejects all signatures but the last",
      library: "rejects",
      when: (sample) => (header(sample, HEADER).match(/h1=/g) ?? []).length > 1,
      what: "looks at the last `h1` only, so that one of two secrets fails during a rotation",
      why: "Paddle documents several `h1` entries during a rotation; any of them counts",
    },
    {
      name: "accepts two times",
      library: "accepts",
      code: "header_malformed",
      when: (sample) => (header(sample, HEADER).match(/(^|;)\s*ts=/g) ?? []).length > 1,
      what: "takes the last of several times",
      why: "two readers may take different ones",
    },
    {
      name: "rejects spaces between entries",
      library: "rejects",
      when: (sample) => /; | ;|^ | $/.test(header(sample, HEADER)),
      what: "takes the space after a semicolon for a part of the next entry's name",
      why: "proxies that join headers add spaces; they change nothing of what is said",
    },
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
      return changeTimeAfter(chance, HEADER, /(?:^|;)ts=([^;]*)/);
    case 5:
      return dropHeader(chance, [HEADER]);
    default:
      return changeSignature(chance, { header: HEADER, list: { separator: ";", prefix: "h1=" } });
  }
}
