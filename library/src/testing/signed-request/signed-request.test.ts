import { generateKeyPair as generateKeyPairOf } from "node:crypto";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import * as providers from "../../providers.js";
import { keyFromCertificate } from "../../signature/keys/certificate.js";
import { readEvents } from "../../signature/read-events.js";
import type { DescribedScheme, SignedRequest, Verifier } from "../../signature/scheme.js";
import { generateKeyPair, generateSecret } from "../../signature/keys/secret.js";
import { verify } from "../../signature/verify.js";
import { TEST_SECRETS, TEST_WEBHOOK_ID } from "./fixture-keys.js";
import type { ProviderName } from "./provider-name.js";
import { SENDERS } from "./senders.js";
import { signedRequest } from "./signed-request.js";
import type { SignedRequestOptions } from "./signed-request.js";

const NOW = Date.parse("2026-11-15T12:00:00.250Z");
const EVENT_TIME = new Date("2026-11-15T11:58:30Z");
const clock = { now: () => NOW };

const SCHEMES = providers.PROVIDER_SCHEMES as readonly (DescribedScheme & { readonly name: ProviderName })[];

function verifierOf(name: ProviderName, secrets: string | readonly string[]): Verifier {
  const exported = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const create = (providers as unknown as Record<string, (options: object) => Verifier>)[exported];
  const given = name === "paypal" ? { certificate: secrets, webhookId: TEST_WEBHOOK_ID } : { secrets };
  const own = name === "http_signature" ? { publicUrl: "https://example.com" } : {};
  if (create === undefined) throw new Error(`no function ${exported}`);
  return create({ ...given, ...own, clock });
}

function fixtureVerifier(name: ProviderName): Verifier {
  return verifierOf(name, TEST_SECRETS[name].verifying);
}

const generate = promisify(generateKeyPairOf);

/** A secret that signs, but not for the fixture's verifier. */
async function strangersSecret(name: ProviderName): Promise<string> {
  const pkcs8 = { format: "pem", type: "pkcs8" } as const;
  if (name === "paypal") {
    return (await generate("rsa", { modulusLength: 2048 })).privateKey.export(pkcs8).toString();
  }
  if (name === "sendgrid") {
    return (await generate("ec", { namedCurve: "P-256" })).privateKey.export(pkcs8).toString();
  }
  if (name === "discord" || name === "http_signature" || name === "adyen") return "ab".repeat(32);
  if (TEST_SECRETS[name].signing.includes("whsec_") && name !== "stripe") return generateSecret();
  return `${TEST_SECRETS[name].signing}_of_a_stranger`;
}

/** What each provider can be asked for; `id` and `time` are left out where its events carry none. */
const ASKED: Readonly<Record<ProviderName, Pick<SignedRequestOptions, "id" | "type" | "time">>> = {
  adyen: { id: "8515131751004933:REFUND:true", type: "REFUND", time: EVENT_TIME },
  anthropic: { id: "wevt_1", type: "session.created", time: EVENT_TIME },
  asana: { type: "project.added", time: EVENT_TIME },
  auth0: { id: "90020260101", type: "fp", time: EVENT_TIME },
  bitbucket: { type: "pullrequest:created" },
  cal_com: { type: "BOOKING_CANCELLED", time: EVENT_TIME },
  calendly: { type: "invitee.canceled", time: EVENT_TIME },
  chargebee: { id: "ev_16BHbhF4s42tO2lK", type: "invoice_generated", time: EVENT_TIME },
  circleci: { id: "3888f21b-eaa7-38e3-8f3d-75a63bba8895", type: "job-completed", time: EVENT_TIME },
  clerk: { id: "msg_1", type: "organization.created", time: EVENT_TIME },
  discord: { type: "APPLICATION_AUTHORIZED", time: EVENT_TIME },
  docusign: {
    id: "0a2d4a3e:recipient-signed::2026-11-15T11:58:30.000Z",
    type: "recipient-signed",
    time: EVENT_TIME,
  },
  figma: { type: "FILE_COMMENT", time: EVENT_TIME },
  github: { id: "72d3162e-cc78-11e3-81ab-4c9367dc0958", type: "pull_request.opened" },
  gitlab: { id: "f5e5f430-f57b-4e6e-9fac-d9128cd7232f", type: "merge_request" },
  http_signature: { id: "evt_1", type: "order.shipped", time: EVENT_TIME },
  hubspot: {
    id: `62515:7481:9007199254740991:33:7:8:${EVENT_TIME.getTime()}:lifecyclestage`,
    type: "contact.propertyChange",
    time: EVENT_TIME,
  },
  intercom: { id: "notif_1", type: "contact.created", time: EVENT_TIME },
  lemon_squeezy: { type: "subscription_created" },
  linear: { id: "234d1a4e-b617-4388-90fe-adc3633d6b72", type: "Comment.update", time: EVENT_TIME },
  mailgun: { id: "CPgfbmQMTCKtHW6uIWtuVe", type: "opened", time: EVENT_TIME },
  notion: { id: "367cba44-b6f3-4c92-81e7-6a2e9659efd4", type: "page.deleted", time: EVENT_TIME },
  openai: { id: "wh_685343a1381c819085d44c354e1b330e", type: "batch.completed", time: EVENT_TIME },
  paddle: { id: "evt_01hv8wptq8987qeep44cyrewp9", type: "subscription.canceled", time: EVENT_TIME },
  paypal: {
    id: "WH-58D329510W468432D-8HN650336L201105X",
    type: "CHECKOUT.ORDER.APPROVED",
    time: EVENT_TIME,
  },
  polar: { id: "msg_1", type: "subscription.revoked", time: EVENT_TIME },
  postmark: { type: "Bounce" },
  replicate: { id: "msg_1", type: "failed" },
  resend: { id: "msg_1", type: "email.bounced", time: EVENT_TIME },
  sendgrid: { id: "sg_event_id_1", type: "bounce", time: EVENT_TIME },
  sentry: { type: "event_alert.triggered" },
  shopify: { id: "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043", type: "orders/paid", time: EVENT_TIME },
  slack: { id: "Ev08MFMKH6", type: "message", time: EVENT_TIME },
  square: { id: "13b867cf-db3d-4b1c-90b6-2f32a9d78124", type: "refund.updated", time: EVENT_TIME },
  standard_webhooks: { id: "evt_1", type: "order.shipped", time: EVENT_TIME },
  stripe: { id: "evt_1", type: "charge.refunded", time: EVENT_TIME },
  supabase: { id: "msg_1", type: "recovery" },
  twilio: { id: "05f1f1e4-3b8c-4d5e-9d1f-5b1a5ad5a6a0", type: "call.completed", time: EVENT_TIME },
  typeform: { id: "LtWXD3crgy", type: "form_response_partial", time: EVENT_TIME },
  vercel: { id: "uev_1", type: "deployment.error", time: EVENT_TIME },
  webflow: { type: "site_publish" },
  woocommerce: { type: "order.deleted" },
  workos: { id: "event_01", type: "user.created", time: EVENT_TIME },
  zoom: { type: "meeting.ended", time: EVENT_TIME },
};

it("every provider's scheme has a signed request, and nobody else has", () => {
  expect(Object.keys(SENDERS).toSorted()).toEqual(SCHEMES.map(({ name }) => name).toSorted());
});

/** What comes of a request: its events as text, or the code of the error. */
async function told(name: ProviderName, request: SignedRequest): Promise<string> {
  try {
    const events = readEvents(await verify(fixtureVerifier(name), request));
    return JSON.stringify(events.map(({ id, type, time }) => [id, type, time]));
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe.each(SCHEMES)("a signed request of $name", ({ name, headers }) => {
  it("is accepted, and names the event that was asked for", async () => {
    const asked = ASKED[name];
    const request = await signedRequest(name, { ...asked, clock });
    const verified = await verify(fixtureVerifier(name), request);
    // Its delivery id is drawn, and the signature behind it cannot be asked for.
    const id =
      name === "woocommerce" ? (expect.stringMatching(/^[0-9a-f]{32}:[0-9a-f]{64}$/) as string) : undefined;
    expect(readEvents(verified)).toEqual([
      expect.objectContaining({ id, time: undefined, ...asked, source: name }),
    ]);
  });

  it("is an ordinary event where nothing was asked for, and another one each time", async () => {
    const requests = [await signedRequest(name, { clock }), await signedRequest(name, { clock })];
    const bodies = new Set(requests.map(({ body }) => new TextDecoder().decode(body)));
    expect(bodies.size).toBe(2);
    for (const request of requests) {
      const verified = await verify(fixtureVerifier(name), request);
      expect(await verified.verifier.scheme.handshake?.(verified)).toBeUndefined();
      expect(readEvents(verified)).toEqual([expect.objectContaining({ type: SENDERS[name].type })]);
    }
  });

  it("of a sender with another secret is refused", async () => {
    const request = await signedRequest(name, { secrets: await strangersSecret(name), clock });
    await expect(verify(fixtureVerifier(name), request)).rejects.toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("has each header that proves or names its event in the scheme's list, and is refused if one stands twice", async () => {
    const request = await signedRequest(name, { ...ASKED[name], clock });
    const whole = await told(name, request);
    for (const header of Object.keys(request.headers)) {
      const { [header]: value = "", ...others } = request.headers;
      // Some are read only where the body says nothing.
      const isRead = (await told(name, { ...request, headers: others })) !== whole;
      expect([header, headers.includes(header) || !isRead]).toEqual([header, true]);
      if (!headers.includes(header)) continue;
      const rawHeaders = [...Object.entries(request.headers).flat(), header.toUpperCase(), value];
      expect(await told(name, { ...request, rawHeaders })).toBe("header_malformed");
    }
  });

  it("carries data of the caller's", async () => {
    const { body } = await signedRequest(name, { clock, data: { answer: "forty-two" } });
    expect(new TextDecoder().decode(body)).toContain("forty-two");
  });
});

it.each(SCHEMES.filter(({ covers }) => covers.body))(
  "a signed request of $name is refused after any one byte of its body was changed",
  async ({ name }) => {
    const request = await signedRequest(name, { clock });
    const verifier = fixtureVerifier(name);
    for (let index = 0; index < request.body.length; index += 7) {
      const body = request.body.with(index, (request.body[index] ?? 0) ^ 1);
      await expect(verify(verifier, { ...request, body })).rejects.toMatchObject({ name: "PosthornError" });
    }
  },
);

describe("secrets", () => {
  it.each(["stripe", "paddle", "workos", "standard_webhooks"] as const)(
    "of %s all sign during a rotation",
    async (name) => {
      const old =
        name === "standard_webhooks" ? `whsec_${btoa("o".repeat(32))}` : "the old secret of 24 chars";
      const { signing } = TEST_SECRETS[name];
      const request = await signedRequest(name, { secrets: [signing, old], clock });
      for (const secret of [signing, old])
        expect(await verify(verifierOf(name, secret), request)).toMatchObject({ keyIndex: 0 });
    },
  );

  it("of Polar sign once each: by their base64, or by their text where they have none", async () => {
    const standard = `whsec_${btoa("p".repeat(32))}`;
    const { signing } = TEST_SECRETS.polar;
    const request = await signedRequest("polar", { secrets: [signing, standard], clock });
    expect(request.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    for (const secret of [signing, standard])
      expect(await verify(verifierOf("polar", secret), request)).toMatchObject({ keyIndex: 0 });
    expect(await verify(verifierOf("standard_webhooks", standard), request)).toMatchObject({ keyIndex: 0 });
  });

  it("beyond the first are refused where the provider signs with one", async () => {
    await expect(signedRequest("github", { secrets: ["a", "b"] })).rejects.toMatchObject({
      code: "option_invalid",
    });
  });

  it("may be Ed25519 keys of Standard Webhooks, beside others", async () => {
    const { signingKey, publicKey } = await generateKeyPair();
    const { signing } = TEST_SECRETS.standard_webhooks;
    const request = await signedRequest("standard_webhooks", { secrets: [signing, signingKey], clock });
    for (const secret of [signing, publicKey])
      expect(await verify(verifierOf("standard_webhooks", secret), request)).toMatchObject({ keyIndex: 0 });
  });

  it.each([
    ["discord", "not hexadecimal"],
    ["sendgrid", "no PEM"],
    ["paypal", ""],
  ] as const)("of %s that cannot be a private key are told", async (name, secrets) => {
    await expect(signedRequest(name, { secrets })).rejects.toMatchObject({ code: "secret_malformed" });
  });

  it("of PayPal belong to their certificate, or are refused", async () => {
    const { verifying } = TEST_SECRETS.paypal;
    const own = await signedRequest("paypal", { certificate: verifying, clock });
    expect(await verify(fixtureVerifier("paypal"), own)).toMatchObject({ keyIndex: 0 });
    const secrets = await strangersSecret("paypal");
    const foreign = signedRequest("paypal", { secrets, certificate: verifying, clock });
    await expect(foreign).rejects.toMatchObject({ code: "option_invalid" });
  });

  it("of the PayPal fixture are valid for as long as a test may turn its clock to", () => {
    const { period } = keyFromCertificate(TEST_SECRETS.paypal.verifying, "fixture");
    expect(period?.fromMs).toBe(Date.UTC(2000, 0, 1));
    expect(period?.untilMs).toBe(Date.UTC(2099, 11, 31, 23, 59, 59));
  });
});

describe("what a provider cannot carry is refused, not left out:", () => {
  it.each([
    ["zoom", { id: "evt_1" }, "option_invalid"],
    ["github", { time: EVENT_TIME }, "option_invalid"],
    ["discord", { id: "1", type: "ENTITLEMENT_CREATE" }, "option_invalid"],
    ["hubspot", { id: "evt_1" }, "option_invalid"],
    ["hubspot", { id: "1:2:3:4:::5", time: EVENT_TIME }, "option_invalid"],
    ["stripe", { events: [{ id: "evt_1" }] }, "option_invalid"],
    ["mailgun", { body: "{}" }, "body_malformed"],
    ["stripe", { type: "a", body: '{"type":"b"}' }, "option_invalid"],
    ["github", { headers: { "x-hub-signature-256": `sha256=${"00".repeat(32)}` } }, "option_invalid"],
  ] as const)("%s with %j", async (name, options, code) => {
    await expect(signedRequest(name, options)).rejects.toMatchObject({ code });
  });

  it("a provider that nobody knows", async () => {
    await expect(signedRequest("constructor" as never)).rejects.toMatchObject({ code: "option_invalid" });
  });
});

it.each(["hubspot", "sendgrid", "twilio"] as const)("%s sends many events in one request", async (name) => {
  const events = [{ type: "first" }, { type: "second", time: EVENT_TIME }];
  const request = await signedRequest(name, { events, clock });
  const found = readEvents(await verify(fixtureVerifier(name), request));
  expect(found).toMatchObject(events);
  expect(new Set(found.map(({ id }) => id)).size).toBe(2);
});

it("an interaction of Discord's has an id, unlike its webhook events", async () => {
  const request = await signedRequest("discord", { id: "786008729715212338", type: "MODAL_SUBMIT", clock });
  const [event] = readEvents(await verify(fixtureVerifier("discord"), request));
  expect(event).toMatchObject({ id: "786008729715212338", type: "MODAL_SUBMIT" });
});

it.each(["hubspot", "square", "twilio"] as const)("%s signs the given URL and no other", async (name) => {
  const url = "https://hooks.example.org/in?tenant=7";
  const request = await signedRequest(name, { url, clock });
  expect(await verify(fixtureVerifier(name), request)).toMatchObject({ keyIndex: 0 });
  const elsewhere = { ...request, url: "https://hooks.example.org/in?tenant=8" };
  await expect(verify(fixtureVerifier(name), elsewhere)).rejects.toMatchObject({
    code: "signature_mismatch",
  });
});

it("a given body is signed byte for byte", async () => {
  const body = utf8('{"type":"url_verification","challenge":"abc"}');
  const request = await signedRequest("slack", { body, clock });
  expect(request.body).toEqual(body);
  const verified = await verify(fixtureVerifier("slack"), request);
  expect(verified.verifier.scheme.handshake?.(verified)).toMatchObject({ body: "abc" });
});

it("the clock decides when the request was signed", async () => {
  const request = await signedRequest("stripe", { clock: { now: () => NOW - 301_000 } });
  await expect(verify(fixtureVerifier("stripe"), request)).rejects.toMatchObject({
    code: "timestamp_out_of_range",
  });
});

it("can be handed to fetch and to `Request` as it is", async () => {
  const made = await signedRequest("github");
  const request = new Request(made.url, made);
  expect(new Uint8Array(await request.arrayBuffer())).toEqual(made.body);
  expect(request.headers.get("x-github-event")).toBe("issues");
});
