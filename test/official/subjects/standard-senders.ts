import Anthropic from "@anthropic-ai/sdk";
import { verifyWebhook } from "@clerk/backend/webhooks";
import { webhooks as polarWebhooks } from "@polar-sh/sdk/2026-10";
import OpenAI from "openai";
import { anthropic, clerk, openai, polar, replicate, resend } from "posthorn/providers";
import { validateWebhook } from "replicate";
import { Resend } from "resend";
import type { Chance } from "../../chance.js";
import type { Parts } from "../sample.js";
import type { Difference, Subject } from "../subject.js";
import {
  ANY_LENGTH,
  COMPARES_BASE64,
  DECODES_BODY,
  EMPTY_BODY,
  header,
  ignoresTail,
  LOOSE_TIME,
  STRIPS_BOM,
  tooManyEntries,
} from "./common-differences.js";
import {
  change,
  DIFFERENCES,
  draw,
  NOT_JSON,
  ODD_ID,
  SHORT_SECRET,
  sign,
  signedHeaders,
  SPACED_SECRET,
  URL_SAFE_SECRET,
} from "./standard-webhooks.js";

const [, ADDED_BOM] = STRIPS_BOM as readonly [Difference, Difference];

// The libraries of providers that sign by Standard Webhooks.

const BY_STANDARD = { draw, change: (chance: Chance) => change(chance), sign };
const BY_SVIX = {
  draw,
  change: (chance: Chance) => change(chance, "svix"),
  sign: (parts: Parts) => ({
    headers: signedHeaders(Buffer.from(parts.secret.replace(/^whsec_/, ""), "base64"), parts, "svix"),
  }),
};

const anthropicClient = new Anthropic({ apiKey: "unused" });

export const ANTHROPIC: Subject = {
  ...BY_STANDARD,
  library: "@anthropic-ai/sdk",
  verifier: "client.beta.webhooks.unwrap(body, { headers, key })",
  create: anthropic,
  accepts: ({ secret, headers, body }) => {
    anthropicClient.beta.webhooks.unwrap(body.toString(), { headers: { ...headers }, key: secret });
    return true;
  },
  differences: [...DIFFERENCES, NOT_JSON],
};

export const CLERK: Subject = {
  ...BY_SVIX,
  library: "@clerk/backend",
  verifier: "verifyWebhook(request, { signingSecret })",
  create: clerk,
  accepts: async ({ secret, headers, body, url }) => {
    await verifyWebhook(new Request(url, { method: "POST", headers, body: new Uint8Array(body) }), {
      signingSecret: secret,
    });
    return true;
  },
  differences: [
    ...DIFFERENCES,
    NOT_JSON,
    ADDED_BOM,
    {
      name: "rejects the body null",
      library: "rejects",
      when: ({ body }) => body.toString().trim() === "null",
      what: "reads fields of the parsed body and throws where it is `null`, though it is rightly signed",
      why: "what the body means is for the handler; the verdict is about its origin",
    },
  ],
};

const resendClient = new Resend("re_unused");

export const RESEND: Subject = {
  ...BY_SVIX,
  library: "resend",
  verifier: "resend.webhooks.verify({ payload, headers, webhookSecret })",
  create: resend,
  accepts: ({ secret, headers, body }) => {
    resendClient.webhooks.verify({
      payload: body.toString(),
      headers: {
        id: headers["svix-id"] ?? "",
        timestamp: headers["svix-timestamp"] ?? "",
        signature: headers["svix-signature"] ?? "",
      },
      webhookSecret: secret,
    });
    return true;
  },
  differences: [...DIFFERENCES, NOT_JSON],
};

const openaiClient = new OpenAI({ apiKey: "unused" });

export const OPENAI: Subject = {
  ...BY_STANDARD,
  library: "openai",
  verifier: "client.webhooks.verifySignature(payload, headers, secret)",
  create: openai,
  accepts: async ({ secret, headers, body }) => {
    await openaiClient.webhooks.verifySignature(body.toString(), { ...headers }, secret);
    return true;
  },
  differences: [
    ANY_LENGTH,
    LOOSE_TIME,
    ...DECODES_BODY,
    ODD_ID,
    tooManyEntries(" "),
    SHORT_SECRET,
    {
      name: "accepts sloppy secrets",
      library: "accepts",
      code: "secret_malformed",
      what: "passes over spaces and line breaks in the secret, and over a second prefix",
      why: "a secret that was copied wrongly is told at start; elsewhere the same text would be another key",
    },
    {
      name: "rejects secrets without their prefix",
      library: "rejects",
      when: ({ secret }) => !secret.startsWith("whsec_"),
      what: "takes the text of a secret without `whsec_` for the key itself",
      why: "OpenAI hands out secrets with the prefix; whoever lost it means the same key, as in the standard's own libraries",
    },
    {
      name: "accepts sloppy base64",
      library: "accepts",
      code: ["signature_unsupported", "signature_mismatch"],
      what: "reads base64 that holds junk or unused bits, so that many texts mean one signature",
      why: "one signature has one text, apart from padding and alphabet",
    },
  ],
};

export const REPLICATE: Subject = {
  ...BY_STANDARD,
  library: "replicate",
  verifier: "validateWebhook({ id, timestamp, signature, body, secret })",
  create: replicate,
  accepts: ({ secret, headers, body }) =>
    validateWebhook({
      id: headers["webhook-id"] ?? "",
      timestamp: headers["webhook-timestamp"] ?? "",
      signature: headers["webhook-signature"] ?? "",
      body: body.toString(),
      secret,
    }),
  differences: [
    ANY_LENGTH,
    ...DECODES_BODY,
    EMPTY_BODY,
    {
      name: "accepts any time",
      library: "accepts",
      code: ["timestamp_out_of_range", "timestamp_malformed"],
      what: "never looks at the time, so that a captured request can be replayed for ever",
      why: "the time is signed so that it can be held to the clock, as Replicate's documentation asks",
    },
    ODD_ID,
    tooManyEntries(" "),
    {
      name: "accepts entries of any version",
      library: "accepts",
      code: ["signature_unsupported", "signature_mismatch"],
      when: (sample) => /(^| )(?!v1,)[^ ,]*,/.test(header(sample, "webhook-signature")),
      what: "looks at what stands behind the comma, whatever version stands before it",
      why: "an entry of another version is another kind of signature",
    },
    ignoresTail(",", "signature_unsupported"),
    SHORT_SECRET,
    SPACED_SECRET,
    URL_SAFE_SECRET,
    COMPARES_BASE64,
  ],
};

// What Polar made before September 2026: its text is the key, also where it could be read as base64.
const TEXT_SECRET = /^(polar_whs_|whsec_text)/;

function drawPolarSecret(chance: Chance): string {
  const text = chance.bytes(20).toString("hex");
  return chance.pick([draw(chance).secret, draw(chance).secret, `polar_whs_${text}`, `whsec_text${text}`]);
}

export const POLAR: Subject = {
  ...BY_STANDARD,
  draw: (chance) => ({ ...draw(chance), secret: drawPolarSecret(chance) }),
  sign: (parts) =>
    TEXT_SECRET.test(parts.secret) ? { headers: signedHeaders(parts.secret, parts, "webhook") } : sign(parts),
  library: "@polar-sh/sdk",
  verifier: "webhooks.validateEvent(body, headers, secret)",
  create: polar,
  accepts: async ({ secret, headers, body }) => {
    try {
      await polarWebhooks.validateEvent(body, { ...headers }, secret);
    } catch (error) {
      // What it says of type and JSON, it says after the signature held.
      return (
        error instanceof polarWebhooks.PolarWebhookError &&
        !(error instanceof polarWebhooks.PolarWebhookVerificationError)
      );
    }
    return true;
  },
  differences: [
    LOOSE_TIME,
    ...DECODES_BODY,
    ...STRIPS_BOM,
    ODD_ID,
    tooManyEntries(" "),
    ignoresTail(",", "signature_unsupported"),
    {
      name: "accepts sloppy base64",
      library: "accepts",
      code: ["signature_unsupported", "signature_mismatch"],
      when: (sample) =>
        /(?:^| )v1,(?![\w+/]{42}[AEIMQUYcgkosw048]=?(?: |$))/.test(header(sample, "webhook-signature")),
      what: "reads base64 with unused bits, so that several texts mean one signature",
      why: "one signature has one text, apart from padding and alphabet",
    },
    {
      name: "accepts short keys in secrets",
      library: "accepts",
      code: ["signature_mismatch", "secret_malformed"],
      when: ({ secret }) => Buffer.from(secret.replace("whsec_", ""), "base64").length < 24,
      what: "takes base64 of fewer than 24 bytes for a key",
      why: "the standard asks for 24 to 64 bytes, and Polar makes 32",
    },
    {
      name: "accepts secrets with a character too many",
      library: "accepts",
      code: "signature_mismatch",
      when: ({ secret }) => /\s$/.test(secret),
      what: "passes over a space or line break behind base64",
      why: "as a text, such a secret is another key; the same text must not mean two",
    },
    COMPARES_BASE64,
  ],
};
