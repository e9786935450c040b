import { TEST_SECRETS, signedRequest } from "posthorn/testing";
import type { ProviderName, SignedRequestOptions } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NOW_S } from "./changes.js";
import type { Sample } from "./sample.js";
import type { Subject } from "./subject.js";
import { SUBJECTS } from "./subjects/all.js";

// What `signedRequest` signs is read from our own schemes; here those who did not write it judge it.

const PROVIDERS: Readonly<Record<string, ProviderName>> = {
  "@hubspot/api-client": "hubspot",
  "@linear/sdk": "linear",
  "@octokit/webhooks": "github",
  "@octokit/webhooks-methods": "github",
  "@paddle/paddle-node-sdk": "paddle",
  "@sendgrid/eventwebhook": "sendgrid",
  "@shopify/shopify-api": "shopify",
  "@slack/bolt": "slack",
  "@workos-inc/node": "workos",
  "discord-interactions": "discord",
  square: "square",
  standardwebhooks: "standard_webhooks",
  stripe: "stripe",
  svix: "standard_webhooks",
  twilio: "twilio",
};

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

describe.each(CASES)("$library", ({ provider, subject }) => {
  it("accepts our signed request", async () => {
    expect(await accepts(subject, await sampleOf(provider))).toBe(true);
  });

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
});

it("Twilio's library accepts our JSON, whose hash stands in the URL", async () => {
  const twilio = SUBJECTS.find(({ library }) => library === "twilio") as Subject;
  const sample = await sampleOf("twilio", { events: [{ type: "com.twilio.messaging.message.sent" }] });
  expect(sample.url).toContain("bodySHA256=");
  expect(await accepts(twilio, sample)).toBe(true);
  expect(await accepts(twilio, { ...sample, body: changed(sample) })).toBe(false);
});
