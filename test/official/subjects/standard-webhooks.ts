import { createHmac } from "node:crypto";
import { standardWebhooks } from "posthorn";
import { Webhook as Official } from "standardwebhooks";
import { Webhook as Svix } from "svix";
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
import type { Change, Parts } from "../sample.js";
import { after, before, changeHeader } from "../sample.js";
import type { Difference, Subject } from "../subject.js";
import {
  ANY_LENGTH,
  COMPARES_BASE64,
  DECODES_BODY,
  header,
  ignoresTail,
  LOOSE_TIME,
  tooManyEntries,
} from "./common-differences.js";

const ODD_IDS = ["msg.1", "msg 1", "é", "msg\n1", "m".repeat(256), "m".repeat(255), "__proto__", "\u007f"];

/** What every sender of Standard Webhooks draws. */
export function draw(chance: Chance): Parts {
  return {
    secret: `whsec_${chance.bytes(chance.pick([24, 32, 33, 64])).toString("base64")}`,
    id: `msg_${chance.below(1e9)}`,
    time: String(drawTime(chance, 300)),
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  };
}

export function sign({ secret, id, time, body }: Parts): { headers: Record<string, string> } {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return { headers: signedHeaders(key, { id, time, body }, "webhook") };
}

export function signedHeaders(
  key: Buffer | string,
  { id, time, body }: Pick<Parts, "id" | "time" | "body">,
  prefix: Prefix,
): Record<string, string> {
  const digest = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64");
  return { [`${prefix}-id`]: id, [`${prefix}-timestamp`]: time, [`${prefix}-signature`]: `v1,${digest}` };
}

/** The names of the three headers start with it. */
export type Prefix = "webhook" | "svix";

const HEADERS = ["webhook-id", "webhook-timestamp", "webhook-signature"];

export function change(chance: Chance, prefix: Prefix = "webhook"): Change {
  const signature = { header: `${prefix}-signature`, list: { separator: " ", prefix: "v1," } };
  switch (chance.below(9)) {
    case 0:
    case 1:
      return changeBody(chance);
    case 2:
      return changeSecretForm(chance);
    case 3:
      return changeTimeBefore(chance);
    case 4:
      return changeTimeAfter(chance, `${prefix}-timestamp`, /^(.*)$/s);
    case 5:
      return dropHeader(
        chance,
        HEADERS.map((name) => name.replace("webhook", prefix)),
      );
    case 6: {
      const id = chance.pick(ODD_IDS);
      return chance.below(2) === 0
        ? before("odd id", (parts) => ({ ...parts, id }))
        : changeHeader("changed", `${prefix}-id`, () => id);
    }
    default:
      return changeSignature(chance, signature);
  }
}

function changeSecretForm(chance: Chance): Change {
  return chance.pick([
    changeSecret(chance),
    after("secret without prefix", (sample) => ({ ...sample, secret: sample.secret.replace("whsec_", "") })),
    after("secret without padding", (sample) => ({ ...sample, secret: sample.secret.replace(/=+$/, "") })),
    after("secret url-safe", (sample) => ({
      ...sample,
      secret: sample.secret.replaceAll("+", "-").replaceAll("/", "_"),
    })),
    before("short secret", (parts) => ({
      ...parts,
      secret: `whsec_${Buffer.alloc(20, 7).toString("base64")}`,
    })),
    before("secret prefix twice", (parts) => ({ ...parts, secret: `whsec_${parts.secret}` })),
  ]);
}

export const ODD_ID: Difference = {
  name: "accepts ids that cannot be told apart from what follows",
  library: "accepts",
  code: "header_malformed",
  when: (sample) =>
    !/^[\x21-\x2d\x2f-\x7e]{1,255}$/.test(header(sample, "webhook-id") || header(sample, "svix-id")),
  what: "accepts any id: with full stops, spaces, letters beyond ASCII or of any length",
  why: "the standard forbids the full stop, because id and time could trade places under one signature; HTTP carries only ASCII unchanged",
};

export const SHORT_SECRET: Difference = {
  name: "accepts short secrets",
  library: "accepts",
  code: "secret_malformed",
  when: ({ secret }) => Buffer.from(secret.replace("whsec_", ""), "base64").length < 24,
  what: "accepts secrets of fewer than 24 bytes",
  why: "the standard asks for 24 to 64 bytes",
};

export const SPACED_SECRET: Difference = {
  name: "accepts secrets with a character too many",
  library: "accepts",
  code: "secret_malformed",
  when: ({ secret }) => /\s$/.test(secret),
  what: "passes over a space or line break behind the secret",
  why: "a secret that was copied wrongly is told at start; elsewhere the same text would be another key",
};

export const URL_SAFE_SECRET: Difference = {
  name: "rejects secrets in the url-safe alphabet",
  library: "rejects",
  when: ({ secret }) => /[-_]/.test(secret.replace("whsec_", "")),
  what: "reads secrets in the standard alphabet only",
  why: "the standard does not say which alphabet; both are read, mixed ones are refused",
};

/** Of `standardwebhooks`, and of every library that calls it. */
export const DIFFERENCES: readonly Difference[] = [
  ANY_LENGTH,
  LOOSE_TIME,
  ...DECODES_BODY,
  ODD_ID,
  tooManyEntries(" "),
  ignoresTail(",", "signature_unsupported"),
  SHORT_SECRET,
  SPACED_SECRET,
  URL_SAFE_SECRET,
  COMPARES_BASE64,
];

export const NOT_JSON: Difference = {
  name: "rejects bodies that are not JSON",
  library: "rejects",
  when: ({ body }) => !isJson(body),
  what: "parses the body and throws where it is not JSON, though it is rightly signed",
  why: "whether the body is JSON is for the handler; the verdict is about its origin",
};

export const STANDARDWEBHOOKS: Subject = {
  library: "standardwebhooks",
  verifier: "new Webhook(secret).verify(payload, headers, { jsonParse: false })",
  create: standardWebhooks,
  draw,
  change: (chance) => change(chance),
  sign,
  accepts: ({ secret, headers, body }) => {
    new Official(secret).verify(body, { ...headers }, { jsonParse: false });
    return true;
  },
  differences: DIFFERENCES,
};

export const SVIX: Subject = {
  library: "svix",
  verifier: "new Webhook(secret).verify(payload, headers)",
  create: standardWebhooks,
  draw,
  change: (chance) => (chance.below(10) === 0 ? svixNames(chance) : change(chance)),
  sign,
  accepts: ({ secret, headers, body }) => {
    new Svix(secret).verify(body, { ...headers });
    return true;
  },
  differences: [
    ...DIFFERENCES,
    NOT_JSON,
    {
      name: "accepts a mixture of two sets of headers",
      library: "accepts",
      code: "header_missing",
      when: ({ headers }) =>
        "svix-id" in headers || "svix-timestamp" in headers || "svix-signature" in headers,
      what: "takes each of the three headers from either set, `svix-` before `webhook-`",
      why: "one set is read whole, so that nobody can put one header beside those of another request",
    },
    {
      name: "prefers svix- headers",
      library: "rejects",
      when: ({ headers }) => "svix-id" in headers,
      what: "looks at `svix-` headers first, and at wrong ones even where the standard ones are right",
      why: "the standard's names come first",
    },
  ],
};

function svixNames(chance: Chance): Change {
  const [name, names] = chance.pick([
    ["all names", HEADERS],
    ["one name", [chance.pick(HEADERS)]],
  ] as const);
  if (chance.below(4) === 0) {
    return after("a foreign svix-id", (sample) => ({
      ...sample,
      headers: { ...sample.headers, "svix-id": "msg_other" },
    }));
  }
  return after(`svix ${name}`, (sample) => ({
    ...sample,
    headers: Object.fromEntries(
      Object.entries(sample.headers).map(([each, value]) => [
        names.includes(each) ? each.replace("webhook-", "svix-") : each,
        value,
      ]),
    ),
  }));
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
