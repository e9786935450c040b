import { createHmac } from "node:crypto";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { linear } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import {
  changeBody,
  changeSecret,
  changeSignature,
  drawBody,
  drawTime,
  dropHeader,
  NOW_S,
} from "../changes.js";
import type { Change, Parts } from "../sample.js";
import { before } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_HEX, isUtf8 } from "./common-differences.js";

const HEADER = "linear-signature";

export const LINEAR: Subject = {
  library: "@linear/sdk",
  verifier: "new LinearWebhookClient(secret).verify(rawBody, signature)",
  create: linear,
  draw: (chance) => ({
    secret: `lin_wh_${chance.bytes(12).toString("hex")}`,
    id: "",
    time: String(drawTime(chance, 60) * 1000 + chance.pick([0, 0, 1, 999])),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign,
  accepts: ({ secret, headers, body }) => new LinearWebhookClient(secret).verify(body, headers[HEADER] ?? ""),
  differences: [
    COMPARES_HEX,
    {
      name: "judges the time to the millisecond",
      library: "rejects",
      when: ({ body }) =>
        Math.abs(NOW_S * 1000 - timeOf(body)) > 60_000 && Math.abs(NOW_S * 1000 - timeOf(body)) < 61_000,
      what: "compares milliseconds, where every scheme of ours compares whole seconds",
      why: "the tolerance is a minute; whether its last second counts proves nothing",
    },
    {
      name: "accepts times that are no whole milliseconds",
      library: "accepts",
      code: "timestamp_malformed",
      what: "accepts any number as the time",
      why: "Linear sends whole milliseconds",
    },
    {
      name: "rejects a byte order mark",
      library: "rejects",
      when: ({ body }) => body.subarray(0, 3).equals(Buffer.from("\ufeff")),
      what: "cannot parse JSON behind a byte order mark, though it is signed",
      why: "the mark says nothing; the bytes are verified with it",
    },
    {
      name: "accepts JSON that is not UTF-8",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) => !isUtf8(body),
      what: "reads broken bytes as U+FFFD while parsing",
      why: "a body that is not UTF-8 is no JSON, and nothing is guessed from it",
    },
  ],
};

function timeOf(body: Buffer): number {
  return Number(/"webhookTimestamp":(-?[\d.e+]+)/.exec(body.toString())?.[1] ?? Number.NaN);
}

/** The time stands in the signed body. */
function sign({ secret, time, body }: Parts): { headers: Record<string, string>; body: Buffer } {
  const text = body
    .toString("latin1")
    .replace(/^((?:\u00ef\u00bb\u00bf)?\{)/, `$1"webhookTimestamp":${time},`);
  const dated = Buffer.from(text, "latin1");
  return { body: dated, headers: { [HEADER]: createHmac("sha256", secret).update(dated).digest("hex") } };
}

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
      const time = chance.pick([
        `"${NOW_S}000"`,
        `${NOW_S}000.5`,
        `${NOW_S}`,
        "null",
        "[]",
        "1.794770453e12",
        "-1",
        "{}",
        "0",
      ]);
      return before(`time ${time}`, (parts) => ({ ...parts, time }));
    }
    default:
      return changeSignature(chance, { header: HEADER });
  }
}
