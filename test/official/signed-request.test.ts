import { TEST_SECRETS, signedRequest } from "posthorn/testing";
import type { ProviderName, SignedRequestOptions } from "posthorn/testing";
import { PROVIDER_SCHEMES } from "posthorn/providers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NOW_S } from "./changes.js";
import type { Sample } from "./sample.js";
import type { Subject } from "./subject.js";
import { SUBJECTS } from "./subjects/all.js";

// What `signedRequest` signs is read from our own schemes; here those who did not write it judge it.

const PROVIDERS: Readonly<Record<string, ProviderName>> = {
  "@adyen/api-library": "adyen",
  "@anthropic-ai/sdk": "anthropic",
  "@clerk/backend": "clerk",
  "@hubspot/api-client": "hubspot",
  "@linear/sdk": "linear",
  "@notionhq/client": "notion",
  "@octokit/webhooks": "github",
  "@octokit/webhooks-methods": "github",
  "@paddle/paddle-node-sdk": "paddle",
  "@polar-sh/sdk": "polar",
  "@sendgrid/eventwebhook": "sendgrid",
  "@shopify/shopify-api": "shopify",
  "@slack/bolt": "slack",
  "@workos-inc/node": "workos",
  chargebee: "chargebee",
  "discord-interactions": "discord",
  "http-message-signatures": "http_signature",
  openai: "openai",
  replicate: "replicate",
  resend: "resend",
  square: "square",
  standardwebhooks: "standard_webhooks",
  stripe: "stripe",
  svix: "standard_webhooks",
  twilio: "twilio",
  "webflow-api": "webflow",
};

// Adyen signs fields of the body, and Chargebee nothing at all; both have tests of their own.
const SIGNS_BODY = new Set(PROVIDER_SCHEMES.filter(({ covers }) => covers.body).map(({ name }) => name));

const clock = { now: () => NOW_S * 1000 };

async function sampleOf(provider: ProviderName, options: SignedRequestOptions = {}): Promise<Sample> {
  const { headers, body, url, method } = await signedRequest(provider, { clock, ...options });
  return { secret: TEST_SECRETS[provider].verifying, headers, body: Buffer.from(body), url, method };
}

async function accepts(subject: Subject, sample: Sample): Promise<boolean> {
  try {
    return await subject.accepts(sample);
  } catch {
    // The library's way of saying no.
    return false;
  }
}

function changed({ body }: Sample): Buffer {
  // A letter of some text, so that what has to be JSON or a form stays one.
  const text = body.toString();
  const index = text.indexOf("a");
  return Buffer.from(`${text.slice(0, index)}b${text.slice(index + 1)}`);
}

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_S * 1000 });
});
afterAll(() => {
  vi.useRealTimers();
});

it("every official library judges signed requests", () => {
  expect(SUBJECTS.map(({ library }) => library).toSorted()).toEqual(Object.keys(PROVIDERS).toSorted());
});

const CASES = Object.entries(PROVIDERS).flatMap(([library, provider]) =>
  SUBJECTS.filter((subject) => subject.library === library).map((subject) => ({
    library,
    provider,
    subject,
  })),
);

it.each(CASES)("$library accepts our signed request", async ({ provider, subject }) => {
  expect(await accepts(subject, await sampleOf(provider))).toBe(true);
});

describe.each(CASES.filter(({ provider }) => SIGNS_BODY.has(provider)))(
  "$library",
  ({ provider, subject }) => {
    it("accepts our signed request with a body and URL of the caller's", async () => {
      const sentAt = { webhookTimestamp: NOW_S * 1000 };
      const body = provider === "twilio" ? "Body=Zo%C3%AB" : JSON.stringify({ name: "Zoë 📯", ...sentAt });
      const sample = await sampleOf(provider, { body, url: "https://hooks.example.org/in?tenant=7" });
      expect(await accepts(subject, sample)).toBe(true);
    });

    it("refuses it after one letter was changed", async () => {
      const sample = await sampleOf(provider);
      expect(await accepts(subject, { ...sample, body: changed(sample) })).toBe(false);
    });
  },
);

it("Adyen's library refuses ours after a signed field was changed, and not after another", async () => {
  const { subject } = CASES.find(({ provider }) => provider === "adyen") as (typeof CASES)[number];
  const sample = await sampleOf("adyen");
  const replaced = (from: string, to: string): Sample => ({
    ...sample,
    body: Buffer.from(sample.body.toString().replace(from, to)),
  });
  expect(await accepts(subject, replaced('"value":2000', '"value":2001'))).toBe(false);
  expect(await accepts(subject, replaced('"visa"', '"mc"'))).toBe(true);
});

it("Chargebee's library refuses ours with another password", async () => {
  const { subject } = CASES.find(({ provider }) => provider === "chargebee") as (typeof CASES)[number];
  const sample = await sampleOf("chargebee");
  expect(await accepts(subject, { ...sample, secret: `${sample.secret}s` })).toBe(false);
});

it("Polar's library accepts ours of either form of secret", async () => {
  const { subject } = CASES.find(({ provider }) => provider === "polar") as (typeof CASES)[number];
  for (const secret of ["whsec_an_old_secret_of_polar_as_text", `whsec_${btoa("p".repeat(32))}`]) {
    const sample = await sampleOf("polar", { secrets: [secret] });
    expect(await accepts(subject, { ...sample, secret })).toBe(true);
  }
});

it("Twilio's library accepts our JSON, whose hash stands in the URL", async () => {
  const twilio = SUBJECTS.find(({ library }) => library === "twilio") as Subject;
  const sample = await sampleOf("twilio", { events: [{ type: "com.twilio.messaging.message.sent" }] });
  expect(sample.url).toContain("bodySHA256=");
  expect(await accepts(twilio, sample)).toBe(true);
  expect(await accepts(twilio, { ...sample, body: changed(sample) })).toBe(false);
});
