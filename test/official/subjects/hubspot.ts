import { createHmac } from "node:crypto";
import { Signature } from "@hubspot/api-client";
import { hubspot } from "posthorn/providers";
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
import { after } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_BASE64, DECODES_BODY, FUTURE, LOOSE_TIME } from "./common-differences.js";

const SIGNATURE = "x-hubspot-signature-v3";
const TIME = "x-hubspot-request-timestamp";

export const HUBSPOT: Subject = {
  library: "@hubspot/api-client",
  verifier: 'Signature.isValid({ signatureVersion: "v3", … })',
  create: hubspot,
  draw: (chance) => ({
    secret: chance.bytes(16).toString("hex"),
    id: "",
    time: String(drawTime(chance, 300) * 1000 + chance.pick([0, 0, 1, 999])),
    body: drawBody(chance),
    url: chance.pick([
      "https://example.com/hooks",
      "https://example.com/hooks?a=b%20c",
      "https://example.com/hooks?a=%40%3A",
    ]),
    method: chance.pick(["POST", "POST", "GET"]),
  }),
  change,
  sign: ({ secret, method, url, body, time }) => {
    const signed = url.replaceAll("%40", "@").replaceAll("%3A", ":");
    const digest = createHmac("sha256", secret)
      .update(method + signed)
      .update(body)
      .update(time)
      .digest("base64");
    return { headers: { [SIGNATURE]: digest, [TIME]: time } };
  },
  accepts: ({ secret, headers, body, url, method }) =>
    Signature.isValid({
      signatureVersion: "v3",
      signature: headers[SIGNATURE] ?? "",
      clientSecret: secret,
      requestBody: body.toString(),
      url,
      method,
      ...(headers[TIME] === undefined ? {} : { timestamp: Number(headers[TIME]) }),
    }),
  differences: [
    {
      name: "rejects escaped characters in the URL",
      library: "rejects",
      when: ({ url }) => /%(40|3A)/.test(url),
      what: "hashes the URL as it is given, and leaves the unescaping that HubSpot's documentation asks for to its caller",
      why: "the URL of a request is escaped; HubSpot signs it with twelve characters unescaped",
    },
    LOOSE_TIME,
    FUTURE,
    {
      name: "judges the time to the millisecond",
      library: "rejects",
      when: ({ headers }) => Number(headers[TIME]) % 1000 !== 0,
      what: "compares milliseconds, where every scheme of ours compares whole seconds",
      why: "the tolerance is five minutes; whether its last second counts proves nothing",
    },
    ...DECODES_BODY,
    COMPARES_BASE64,
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
    case 6: {
      const url = chance.pick([
        "http://example.com/hooks",
        "https://example.com/hooks/",
        "https://example.com/hooks?a=@:",
      ]);
      return after("another url", (sample) => ({ ...sample, url }));
    }
    default:
      return changeSignature(chance, { header: SIGNATURE });
  }
}
