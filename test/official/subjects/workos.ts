import { createHmac } from "node:crypto";
import { WorkOS } from "@workos-inc/node";
import { workos } from "posthorn/providers";
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
import type { Change, Sample } from "../sample.js";
import type { Subject } from "../subject.js";
import { ANY_LENGTH, COMPARES_HEX, FUTURE, header, ignoresTail } from "./common-differences.js";

const HEADER = "workos-signature";
const client = new WorkOS("unused", { clientId: "unused" });

export const WORKOS: Subject = {
  library: "@workos-inc/node",
  verifier: "workos.webhooks.verifyHeader({ payload, sigHeader, secret })",
  create: workos,
  draw: (chance) => ({
    secret: chance.bytes(16).toString("hex"),
    id: "",
    time: String(drawTime(chance, 180) * 1000 + chance.pick([0, 0, 1, 999])),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret, time, body }) => {
    const digest = createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
    return { headers: { [HEADER]: `t=${time}, v1=${digest}` } };
  },
  accepts: ({ secret, headers, body }) =>
    client.webhooks.verifyHeader({
      payload: JSON.parse(body.toString()),
      sigHeader: headers[HEADER] ?? "",
      secret,
    }),
  differences: [
    {
      name: "accepts bodies that were written anew",
      library: "accepts",
      code: "signature_mismatch",
      when: ({ body }) => isRewritten(body),
      what: "takes the parsed body and hashes JSON that it writes itself, so that bodies pass which were never signed: with other spaces, repeated names or rounded numbers",
      why: "the signature covers bytes; two bodies must not share one signature",
    },
    {
      name: "rejects bodies that JSON.stringify would write otherwise",
      library: "rejects",
      when: ({ body }) => isRewritten(body),
      what: "takes the parsed body and hashes JSON that it writes itself, so that a rightly signed body with other spaces, escapes or numbers never matches",
      why: "the signature covers bytes; we hash the bytes",
    },
    {
      name: "accepts odd times",
      library: "accepts",
      code: "timestamp_malformed",
      what: "reads the time with `parseInt`, so that a text that is no number is never too old",
      why: "a signed request with such a time could be replayed for ever; only plain digits are a time",
    },
    FUTURE,
    {
      name: "judges the time to the millisecond",
      library: "rejects",
      when: (sample) => Number(timeOf(sample)) % 1000 !== 0,
      what: "compares milliseconds, where every scheme of ours compares whole seconds",
      why: "the tolerance is three minutes; whether its last second counts proves nothing",
    },
    ANY_LENGTH,
    ignoresTail("=", "signature_unsupported"),
    COMPARES_HEX,
    {
      name: "looks at one signature only",
      library: "rejects",
      when: (sample) => (header(sample, HEADER).match(/v1=/g) ?? []).length > 1,
      what: "looks at the second entry only, so that one of two secrets fails during a rotation",
      why: "any of several signatures counts",
    },
    {
      name: "reads by position",
      library: "rejects",
      when: (sample) => !/^\s*t=\d+,\s*v1=[0-9a-f]{64}$/.test(header(sample, HEADER)),
      what: "takes the first entry for the time and the second for the signature, and spaces for a part of them",
      why: "entries are found by their names, in any order",
    },
    {
      name: "accepts entries under any name",
      library: "accepts",
      when: (sample) => !/^\s*t=[^,]*,\s*v1=[0-9a-f]{64}\s*(,|$)(?!.*t=)/.test(header(sample, HEADER)),
      what: "takes the first entry for the time and the second for the signature, whatever they are called",
      why: "an entry of another version is another kind of signature, and of two times another reader may take the other",
    },
    {
      name: "accepts spaces in the time",
      library: "accepts",
      code: "signature_mismatch",
      when: (sample) => /t=\d+\s+,/.test(header(sample, HEADER)),
      what: "takes spaces around the time for a part of the signed text",
      why: "proxies that join headers add spaces; they are no part of what is signed",
    },
  ],
};

function timeOf(sample: Sample): string {
  return /(?:^|,)\s*t=([^,]*)/.exec(header(sample, HEADER))?.[1] ?? "";
}

function isRewritten(body: Buffer): boolean {
  try {
    return !Buffer.from(JSON.stringify(JSON.parse(body.toString()))).equals(body);
  } catch {
    return true;
  }
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
      return changeTimeAfter(chance, HEADER, /(?:^|,)\s*t=([^,]*)/);
    case 5:
      return dropHeader(chance, [HEADER]);
    default:
      return changeSignature(chance, { header: HEADER, list: { separator: ",", prefix: "v1=" } });
  }
}
