import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { verifyKey } from "discord-interactions";
import { discord } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import {
  changeBody,
  changeSecret,
  changeSignature,
  changeTimeAfter,
  changeTimeBefore,
  drawBody,
  dropHeader,
  NOW_S,
} from "../changes.js";
import type { Change } from "../sample.js";
import { before, changeHeader } from "../sample.js";
import type { Subject } from "../subject.js";

const SIGNATURE = "x-signature-ed25519";
const TIME = "x-signature-timestamp";

// The first test key of RFC 8032.
const PRIVATE = createPrivateKey({
  format: "der",
  type: "pkcs8",
  key: Buffer.from(
    "302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "hex",
  ),
});
const PUBLIC = createPublicKey(PRIVATE).export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

export const DISCORD: Subject = {
  library: "discord-interactions",
  verifier: "verifyKey(rawBody, signature, timestamp, publicKey)",
  create: discord,
  draw: (chance) => ({
    secret: PUBLIC,
    id: "",
    time: String(NOW_S - chance.below(1000)),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ time, body }) => {
    const signature = sign(null, Buffer.concat([Buffer.from(time), body]), PRIVATE);
    return { headers: { [SIGNATURE]: signature.toString("hex"), [TIME]: time } };
  },
  accepts: ({ secret, headers, body }) =>
    verifyKey(body, headers[SIGNATURE] ?? "", headers[TIME] ?? "", secret),
  differences: [
    {
      name: "accepts any text as the time",
      library: "accepts",
      code: "timestamp_malformed",
      what: "never looks at the time",
      why: "only plain digits are a time; with `toleranceS` it is also held to the clock",
    },
    {
      name: "accepts an empty time",
      library: "accepts",
      code: "header_missing",
      when: ({ headers }) => (headers[TIME] ?? "") === "",
      what: "accepts a request without a time, if the signature was made over the body alone",
      why: "the time is part of what Discord signs",
    },
    {
      name: "accepts bodies that start with a digit",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) => /^\d/.test(body.toString()),
      what: "joins time and body without a mark, so that digits can move from one to the other under the same signature",
      why: "a body that starts with a digit is refused: Discord sends JSON objects",
    },
    {
      name: "accepts sloppy hexadecimal in signatures",
      library: "accepts",
      code: "header_malformed",
      what: "reads two characters at a time with `parseInt`, which takes junk for zero and drops what follows a digit",
      why: "one signature has one text",
    },
    {
      name: "accepts sloppy hexadecimal in keys",
      library: "accepts",
      code: "secret_malformed",
      what: "reads the key in the same way, with spaces around it",
      why: "a key that was copied wrongly is told at start",
    },
  ],
};

function change(chance: Chance): Change {
  switch (chance.below(9)) {
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
    case 6:
      return chance.pick([
        before("time empty", (parts) => ({ ...parts, time: "" })),
        changeHeader("zeros as letters", SIGNATURE, (value) =>
          value.replace(/00/, "zz").replace(/0(?=[0-9a-f](?:..)*$)/, ""),
        ),
        changeHeader("with a letter behind a digit", SIGNATURE, (value) =>
          value.replace(/0([0-9a-f])((?:..)*)$/, "$1g$2"),
        ),
      ]);
    default:
      return changeSignature(chance, { header: SIGNATURE });
  }
}
