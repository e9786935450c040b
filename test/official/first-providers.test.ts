import { parse } from "node:querystring";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { verify as verifyGitHub } from "@octokit/webhooks-methods";
import { Paddle } from "@paddle/paddle-node-sdk";
// oxlint-disable-next-line import/no-unassigned-import -- the library wants its runtime set by this side effect
import "@shopify/shopify-api/adapters/node";
import { shopifyApi } from "@shopify/shopify-api";
import { verifySlackRequest } from "@slack/bolt";
import { signedUrl } from "../../library/src/signature/signed-url.js";
import { WebhooksHelper } from "square";
import { Stripe } from "stripe";
import twilio from "twilio";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Vector } from "../vectors/vector.js";
import { requestOf, vectorFiles } from "../vectors/vector.js";

// The vectors say that the providers' own libraries judge alike, and where they do not. This keeps it true.

interface Case {
  readonly secret: string;
  readonly vector: Vector & { readonly verifier: { readonly publicUrl?: string } };
  readonly body: string;
  readonly header: (name: string) => string;
}

type Library = (given: Case) => unknown;

function publicUrlOf({ vector }: Case): string {
  return signedUrl(requestOf(vector), { publicUrl: vector.verifier.publicUrl });
}

const stripe = new Stripe("sk_test_unused");
const paddle = new Paddle("unused");

/** Each says no by returning false or by throwing. */
const LIBRARIES: Readonly<Record<string, Library>> = {
  github: ({ secret, body, header }) => verifyGitHub(secret, body, header("x-hub-signature-256")),
  linear: ({ secret, vector, header }) =>
    new LinearWebhookClient(secret).verify(Buffer.from(requestOf(vector).body), header("linear-signature")),
  paddle: ({ secret, body, header }) =>
    paddle.webhooks.isSignatureValid(body, secret, header("paddle-signature")),
  shopify: async ({ secret, body, vector }) => {
    const api = shopifyApi({
      apiKey: "unused",
      apiSecretKey: secret,
      hostName: "example.com",
      apiVersion: "2026-07",
      isEmbeddedApp: true,
      logger: { level: 0 },
    });
    const rawRequest = { ...vector.request, url: "/hook" };
    return (await api.webhooks.validate({ rawBody: body, rawRequest, rawResponse: {} })).valid;
  },
  slack: ({ secret, body, vector, header }) => {
    const headers = {
      "x-slack-signature": header("x-slack-signature"),
      "x-slack-request-timestamp": Number(header("x-slack-request-timestamp")),
    };
    verifySlackRequest({ signingSecret: secret, body, headers, nowMilliseconds: vector.now * 1000 });
    return true;
  },
  square: (given) =>
    WebhooksHelper.verifySignature({
      requestBody: given.body,
      signatureHeader: given.header("x-square-hmacsha256-signature"),
      signatureKey: given.secret,
      notificationUrl: publicUrlOf(given),
    }),
  stripe: ({ secret, body, vector, header }) => {
    const { toleranceS = 300 } = vector.verifier;
    return stripe.webhooks.signature.verifyHeader(
      body,
      header("stripe-signature"),
      secret,
      toleranceS,
      undefined,
      vector.now * 1000,
    );
  },
  twilio: (given) => {
    const { secret, body, header } = given;
    const url = publicUrlOf(given);
    return url.includes("bodySHA256")
      ? twilio.validateRequestWithBody(secret, header("x-twilio-signature"), url, body)
      : twilio.validateRequest(secret, header("x-twilio-signature"), url, parse(body));
  },
};

async function accepts(library: Library, vector: Vector): Promise<boolean> {
  const body = Buffer.from(requestOf(vector).body).toString();
  const header = (name: string): string => {
    const value = vector.request.headers[name];
    if (typeof value === "string") return value;
    throw new Error(`no ${name}`);
  };
  for (const secret of vector.verifier.secrets ?? []) {
    try {
      if ((await library({ secret, vector, body, header })) !== false) return true;
    } catch {
      // The library's way of saying no.
    }
  }
  return false;
}

/** Whether the vector says that the library judges otherwise. */
function differs({ origin }: Vector): boolean {
  return /; (the library|Bolt) /.test(origin);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(Object.keys(LIBRARIES))("the library of %s", (scheme) => {
  const cases = vectorFiles.find((file) => file.scheme === scheme)?.cases ?? [];
  const library: Library = LIBRARIES[scheme] ?? (() => false);

  it.each(cases.filter((vector) => !differs(vector)))("judges alike: $name", async (vector) => {
    vi.setSystemTime(vector.now * 1000);
    expect(await accepts(library, vector)).toBe(vector.expect.verdict === "accept");
  });

  it("says yes to at least one case", () => {
    expect(cases.filter((vector) => !differs(vector) && vector.expect.verdict === "accept")).not.toEqual([]);
  });
});
