import { createHash, createHmac } from "node:crypto";
import { parse } from "node:querystring";
import { twilio } from "posthorn/providers";
import twilioLibrary from "twilio";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret, changeSignature, drawBody, dropHeader } from "../changes.js";
import type { Change, Parts } from "../sample.js";
import { after, before } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_BASE64, isUtf8 } from "./common-differences.js";

const HEADER = "x-twilio-signature";
const FORMS = [
  "Body=hi&From=%2B14158675309&To=%2B18005551212",
  "Body=a+b%20c&MessageSid=SM1&Zo%C3%AB=%F0%9F%93%AF",
  "b=2&a=1&a=1&a=0&A=",
  "Body=%E9&x=%",
  "",
  "a&b=&=c",
];
const URLS = [
  "https://example.com/sms",
  "https://example.com/sms?a=1&b=2",
  "http://example.com:8080/sms/",
  "https://user:pass@example.com/sms",
  "https://example.com/it's?q=it's+a%20b",
  "https://EXAMPLE.com/a/../sms",
  "https://example.com/it's?q=it%27s+a%20b",
];

export const TWILIO: Subject = {
  library: "twilio",
  verifier: "twilio.validateRequest(token, signature, url, params), or validateRequestWithBody",
  create: twilio,
  draw: (chance) => ({
    secret: chance.bytes(16).toString("hex"),
    id: "",
    time: "",
    body: chance.below(3) === 0 ? drawBody(chance) : Buffer.from(chance.pick(FORMS)),
    url: chance.pick(URLS),
    method: "POST",
  }),
  change,
  sign,
  accepts: ({ secret, headers, body, url }) => {
    const signature = headers[HEADER] ?? "";
    // What the library's own middleware does, with the body read as express.urlencoded({ extended: false }) does.
    if (url.includes("bodySHA256="))
      return twilioLibrary.validateRequestWithBody(secret, signature, url, body.toString());
    return twilioLibrary.validateRequest(secret, signature, url, { ...parse(body.toString()) });
  },
  differences: [
    {
      name: "accepts other writings of the URL",
      library: "accepts",
      code: "signature_mismatch",
      when: ({ url }) => URL.canParse(url) && new URL(url).toString() !== url,
      what: "tries the URL once more as `new URL()` writes it, with and without Node's old query encoding, for senders that sign another text than they request",
      why: "one text is signed; a receiver that tries others accepts requests for URLs that the sender never named",
    },
    {
      name: "accepts bodies that are no form",
      library: "accepts",
      code: "body_malformed",
      what: "takes any body for a form, so that one which holds no parameters passes unsigned",
      why: "a body that no signature covers must not reach a handler",
    },
    {
      name: "rejects bodies that are not UTF-8",
      library: "rejects",
      when: ({ body }) => !isUtf8(body),
      what: "hashes the body as decoded text where the URL names its hash",
      why: "the hash in the URL covers bytes; we hash the bytes",
    },
    {
      name: "accepts other bytes for U+FFFD",
      library: "accepts",
      code: "signature_mismatch",
      when: ({ url, body }) => url.includes("bodySHA256=") && !isUtf8(body),
      what: "hashes the body as decoded text, so that every broken byte passes for U+FFFD: bodies that were not signed are accepted",
      why: "two bodies must not share one signature",
    },
    {
      name: "rejects hashes of the body in capitals",
      library: "rejects",
      when: ({ url }) => /bodySHA256=[^&]*[A-F]/.test(url),
      what: "compares hexadecimal as text, so that capitals never match",
      why: "hexadecimal means the same in either case; the value is compared, in constant time",
    },
    COMPARES_BASE64,
  ],
};

function sign(parts: Parts): { headers: Record<string, string>; url: string } {
  const { secret, body } = parts;
  const form = /^[\x20-\x7a\x7c-\x7e]*$/.test(body.toString("latin1")) && !/^[["]/.test(body.toString());
  const mark = parts.url.includes("?") ? "&" : "?";
  const digits = createHash("sha256").update(body).digest("hex");
  const hash = parts.id === "capitals" ? digits.toUpperCase() : digits;
  const url = form ? parts.url : `${parts.url}${mark}bodySHA256=${hash}`;
  const params = form ? parse(body.toString()) : {};
  let content = url;
  for (const name of Object.keys(params).toSorted()) {
    const values = [params[name] ?? ""].flat();
    for (const value of [...new Set(values)].toSorted()) content += name + value;
  }
  const digest = createHmac("sha1", secret).update(content).digest("base64");
  return { headers: { [HEADER]: digest }, url };
}

function change(chance: Chance): Change {
  switch (chance.below(8)) {
    case 0:
    case 1:
      return changeBody(chance);
    case 2:
      return changeSecret(chance);
    case 3:
      return dropHeader(chance, [HEADER]);
    case 4:
    case 5:
      return chance.below(8) === 0
        ? before("hash in capitals", (parts) => ({ ...parts, id: "capitals" }))
        : changeUrl(chance);
    default:
      return changeSignature(chance, { header: HEADER });
  }
}

function changeUrl(chance: Chance): Change {
  const [name, apply] = chance.pick<readonly [string, (url: string) => string]>([
    [
      "with another scheme",
      (url) => url.replace(/^https?/, (scheme) => (scheme === "http" ? "https" : "http")),
    ],
    ["with its port", (url) => url.replace(/^(https:\/\/[^/:]+)(?=\/)/, "$1:443")],
    ["with an odd port", (url) => url.replace(/^(https:\/\/[^/:]+)(?=\/)/, "$1:8443")],
    ["without its port", (url) => url.replace(/:\d+\//, "/")],
    ["with a slash", (url) => `${url}/`],
    ["with a query", (url) => `${url}${url.includes("?") ? "&" : "?"}x=1`],
    ["without its query", (url) => url.replace(/\?.*/, "")],
    ["with quotes escaped", (url) => url.replaceAll("'", "%27")],
    ["with its host in small letters", (url) => url.replace("EXAMPLE", "example")],
    ["written otherwise", (url) => URLS.findLast((each) => new URL(each).toString() === url) ?? url],
  ]);
  return after(`url ${name}`, (sample) => ({ ...sample, url: apply(sample.url) }));
}
