import { createPublicKey, createPrivateKey, sign } from "node:crypto";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { sendgrid } from "posthorn/providers";
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
import { DECODES_BODY, LOOSE_TIME } from "./common-differences.js";

const SIGNATURE = "x-twilio-email-event-webhook-signature";
const TIME = "x-twilio-email-event-webhook-timestamp";

// Made once for these tests, with `openssl ecparam -name prime256v1 -genkey`.
const PRIVATE = createPrivateKey({
  format: "jwk",
  key: {
    kty: "EC",
    crv: "P-256",
    d: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  },
});
const PUBLIC = createPublicKey(PRIVATE).export({ format: "der", type: "spki" }).toString("base64");

const library = new EventWebhook();

/** Whether a signature is two integers without a byte that they do not need. */
function isPlainDer(text: string): boolean {
  const der = Buffer.from(text, "base64");
  const size = der[3] ?? 0;
  const integers = [der.subarray(4, 4 + size), der.subarray(6 + size)];
  return integers.every(([first = 0, second = 0]) => first < 0x80 && (first > 0 || second >= 0x80));
}

export const SENDGRID: Subject = {
  // The library needs 9 ms for each.
  cases: 2000,
  library: "@sendgrid/eventwebhook",
  verifier: "new EventWebhook().verifySignature(key, payload, signature, timestamp)",
  create: sendgrid,
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
    const signature = sign("sha256", Buffer.concat([Buffer.from(time), body]), PRIVATE);
    return { headers: { [SIGNATURE]: signature.toString("base64"), [TIME]: time } };
  },
  accepts: ({ secret, headers, body }) => {
    const key = library.convertPublicKeyToECDSA(secret);
    return library.verifySignature(key, body, headers[SIGNATURE] ?? "", headers[TIME] ?? "");
  },
  differences: [
    LOOSE_TIME,
    ...DECODES_BODY,
    {
      name: "accepts bodies that start with a digit",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) => /^\d/.test(body.toString()),
      what: "joins time and body without a mark, so that digits can move from one to the other under the same signature",
      why: "a body that starts with a digit is refused: SendGrid sends JSON arrays",
    },
    {
      name: "accepts an empty time",
      library: "accepts",
      code: "header_missing",
      when: ({ headers }) => (headers[TIME] ?? "") === "",
      what: "accepts a request without a time, if the signature was made over the body alone",
      why: "the time is part of what SendGrid signs",
    },
    {
      name: "accepts sloppy base64",
      library: "accepts",
      code: "header_malformed",
      what: "reads base64 that holds junk, spaces or unused bits, so that many texts mean one signature",
      why: "one signature has one text, apart from padding and alphabet",
    },
    {
      name: "accepts sloppy DER",
      library: "accepts",
      code: "signature_mismatch",
      when: ({ headers }) => !isPlainDer(headers[SIGNATURE] ?? ""),
      what: "reads integers of a signature that are padded or lack a byte",
      why: "one signature has one encoding",
    },
    {
      name: "accepts sloppy keys",
      library: "accepts",
      code: "secret_malformed",
      what: "reads a public key with spaces or line breaks around it",
      why: "a secret that was copied wrongly is told at start",
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
        changeHeader("DER cut", SIGNATURE, (value) =>
          Buffer.from(value, "base64").subarray(0, -1).toString("base64"),
        ),
        changeHeader("DER with more behind", SIGNATURE, (value) =>
          Buffer.concat([Buffer.from(value, "base64"), Buffer.alloc(1)]).toString("base64"),
        ),
        changeHeader("DER integer padded", SIGNATURE, padInteger),
      ]);
    default:
      return changeSignature(chance, { header: SIGNATURE });
  }
}

/** The first integer with a zero more than it needs. */
function padInteger(value: string): string {
  const der = Buffer.from(value, "base64");
  const [tag = 0, length = 0, integer = 0, size = 0] = der;
  return Buffer.concat([Buffer.from([tag, length + 1, integer, size + 1, 0]), der.subarray(4)]).toString(
    "base64",
  );
}
