import { createHmac } from "node:crypto";
// oxlint-disable-next-line import/no-unassigned-import -- the library has no cryptography until an adapter is loaded
import "@shopify/shopify-api/adapters/node";
import { LogSeverity, shopifyApi } from "@shopify/shopify-api";
import { shopify } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret, changeSignature, drawBody, dropHeader } from "../changes.js";
import type { Change } from "../sample.js";
import { after } from "../sample.js";
import type { Subject } from "../subject.js";
import { COMPARES_BASE64, DECODES_BODY, EMPTY_BODY, header } from "./common-differences.js";

const HEADER = "x-shopify-hmac-sha256";
const OTHERS = ["topic", "shop-domain", "api-version", "webhook-id"];

const apis = new Map<string, ReturnType<typeof shopifyApi>>();

function apiOf(secret: string): ReturnType<typeof shopifyApi> {
  const known = apis.get(secret);
  if (known !== undefined) return known;
  const api = shopifyApi({
    apiKey: "unused",
    apiSecretKey: secret,
    hostName: "example.com",
    apiVersion: "2026-07" as never,
    isEmbeddedApp: true,
    logger: { level: LogSeverity.Error },
  });
  apis.set(secret, api);
  return api;
}

export const SHOPIFY: Subject = {
  library: "@shopify/shopify-api",
  verifier: "shopify.webhooks.validate({ rawBody, rawRequest, rawResponse })",
  create: shopify,
  draw: (chance) => ({
    // Few, because each makes an instance of the library.
    secret: `shpss_${chance.below(20)}`,
    id: "1",
    time: "",
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret, body }) => ({
    headers: {
      [HEADER]: createHmac("sha256", secret).update(body).digest("base64"),
      ...Object.fromEntries(OTHERS.map((name) => [`x-shopify-${name}`, "a"])),
    },
  }),
  accepts: async ({ secret, headers, body }) => {
    const rawRequest = { headers, url: "/hooks", method: "POST" };
    const verdict = await apiOf(secret).webhooks.validate({
      rawBody: body.toString(),
      rawRequest,
      rawResponse: {},
    });
    return verdict.valid;
  },
  differences: [
    ...DECODES_BODY,
    EMPTY_BODY,
    {
      name: "rejects requests without a topic or shop",
      library: "rejects",
      when: (sample) => OTHERS.some((name) => header(sample, `x-shopify-${name}`) === ""),
      what: "refuses a request without its topic, shop, API version or id header",
      why: "no signature covers these headers, so that they prove nothing; an event without them is one of unknown type",
    },
    COMPARES_BASE64,
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
      return dropHeader(chance, [HEADER, ...OTHERS.map((name) => `x-shopify-${name}`)]);
    case 4:
      return after("the newer names", (sample) => ({
        ...sample,
        headers: Object.fromEntries(
          Object.entries({ ...sample.headers, "x-shopify-event-id": "a" }).map(([name, value]) => [
            name.replace(/^x-/, ""),
            value,
          ]),
        ),
      }));
    default:
      return changeSignature(chance, { header: HEADER });
  }
}
