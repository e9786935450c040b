import type { SourceInput } from "posthorn/client";
import { PROVIDER_SCHEMES } from "posthorn/providers";
import { TEST_SECRETS, TEST_WEBHOOK_ID } from "posthorn/testing";
import type { ProviderName } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { checkSource, checkSourceChange } from "./check-source.js";
import { SOURCE_SCHEMES } from "./source-schemes.js";

const clock = { now: () => Date.UTC(2026, 0, 1) };
const STRIPE: SourceInput = { name: "billing", scheme: "stripe", secrets: ["whsec_canary_of_a_secret"] };
const HMAC: SourceInput = {
  name: "acme",
  scheme: "hmac",
  secrets: ["a secret of sixteen bytes"],
  options: { header: "x-acme-signature", encoding: "hex", id: { json: "/id" } },
};

/** What some schemes need besides. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  paypal: { webhookId: TEST_WEBHOOK_ID },
  http_signature: { publicUrl: "https://hooks.example.com" },
};

function refusal(input: object): { field: unknown; message: string } {
  try {
    checkSource({ ...STRIPE, ...input }, clock);
  } catch (error) {
    const { code, detail, message } = error as { code: string; detail: { field: unknown }; message: string };
    expect(code).toBe("source_invalid");
    expect(message).not.toContain("canary");
    return { field: detail.field, message };
  }
  return expect.unreachable("it was taken");
}

describe("a source", () => {
  it("is completed with its defaults", () => {
    expect(checkSource(STRIPE, clock)).toEqual({
      name: "billing",
      tenant: "default",
      scheme: "stripe",
      secrets: ["whsec_canary_of_a_secret"],
      options: {},
      dedup: { by: "id" },
      windowS: 1_209_600,
      key: undefined,
      forwardHeaders: [],
      createdAt: new Date(clock.now()),
      version: 1,
    });
  });

  it("can have any scheme of the library, by its name", () => {
    const names = PROVIDER_SCHEMES.map(({ name }) => name);
    expect([...SOURCE_SCHEMES.keys()].toSorted()).toEqual([...names, "hmac", "none"].toSorted());
    for (const scheme of names) {
      const secrets = [TEST_SECRETS[scheme as ProviderName].verifying];
      const options = OPTIONS[scheme] ?? {};
      expect(checkSource({ name: "any", scheme, secrets, options }, clock)).toMatchObject({ scheme });
    }
  });

  it("whose events have no id is known by their content, from the start", () => {
    expect(
      checkSource({ name: "z", scheme: "zoom", secrets: ["sixteen bytes and more"] }, clock).dedup,
    ).toEqual({
      by: "content",
      content: "raw",
    });
    expect(checkSource({ ...HMAC, options: { header: "x-a", encoding: "hex" } }, clock).dedup.by).toBe(
      "content",
    );
    expect(checkSource(HMAC, clock).dedup).toEqual({ by: "id" });
  });

  it("whose bodies have no id and recur, or count attempts, is known by what its provider's scheme says", () => {
    const secrets = ["sixteen bytes and more"];
    expect(checkSource({ name: "w", scheme: "webflow", secrets }, clock)).toMatchObject({
      dedup: { by: "content", content: "raw" },
      windowS: 3600,
    });
    expect(checkSource({ name: "f", scheme: "figma", secrets }, clock)).toMatchObject({
      dedup: { by: "content", content: "json", exclude: ["/retries"] },
      windowS: 1_209_600,
    });
  });

  it("that is signed by a key which all receivers share needs its own URL, or that of the server", () => {
    const input = { name: "kms", scheme: "http_signature", secrets: [TEST_SECRETS.http_signature.verifying] };
    const { field, message } = refusal({ ...input, options: {} });
    expect([field, message]).toEqual(["options.publicUrl", expect.stringContaining("or set public_url")]);
    expect(checkSource(input, clock, "https://hooks.example.com").options).toEqual({});
    const before = checkSource({ ...input, options: { publicUrl: "https://a.example" } }, clock);
    expect(() => checkSourceChange(before, { options: {} }, clock)).toThrow("public_url");
    expect(checkSourceChange(before, { options: {} }, clock, "https://hooks.example.com").options).toEqual(
      {},
    );
  });

  it("that nobody signs is made only when that is said, with the id where its options say", () => {
    const open: SourceInput = { name: "open", scheme: "none", allowUnverified: true };
    expect(checkSource(open, clock).dedup).toEqual({ by: "content", content: "raw" });
    expect(checkSource({ ...open, options: { id: { header: "x-id" } } }, clock).dedup).toEqual({ by: "id" });
    expect(refusal({ scheme: "none", secrets: [] }).field).toBe("allowUnverified");
    expect(refusal({ scheme: "none", allowUnverified: true }).field).toBe("secrets");
  });

  it.each([
    ["name", { name: "Billing" }],
    ["name", { name: "../x" }],
    ["name", { name: "" }],
    ["scheme", { scheme: "strype" }],
    ["secrets", { secrets: [] }],
    ["secrets", { secrets: [""] }],
    ["secrets", { secrets: "text" }],
    ["secrets", { secrets: Array.from({ length: 17 }, () => "a secret of sixteen bytes") }],
    ["secrets", { scheme: "standard_webhooks", secrets: ["whsec_short"] }],
    ["options.tolerance", { options: { tolerance: 5 } }],
    ["options.toleranceS", { options: { toleranceS: "5" } }],
    ["options.toleranceS", { options: { toleranceS: -1 } }],
    ["options.toleranceS", { scheme: "github", options: { toleranceS: 5 } }],
    ["options.publicUrl", { scheme: "twilio", options: { publicUrl: "example.com" } }],
    ["options.webhookId", { scheme: "paypal" }],
    ["options.header", { ...HMAC, options: { encoding: "hex" } }],
    ["options.encoding", { ...HMAC, options: { header: "x-a" } }],
    ["options.content", { ...HMAC, options: { header: "x-a", encoding: "hex", content: 5 } }],
    ["options.content", { ...HMAC, options: { header: "x-a", encoding: "hex", content: "no body" } }],
    ["options.id", { ...HMAC, options: { header: "x-a", encoding: "hex", id: "/id" } }],
    ["options.id", { ...HMAC, options: { header: "x-a", encoding: "hex", id: { json: "id" } } }],
    ["tenant", { tenant: "" }],
    ["tenant", { tenant: "a\nb" }],
    ["dedup.by", { dedup: { by: "hash" } }],
    ["dedup.by", { dedup: "id" }],
    ["dedup.by", { scheme: "zoom", dedup: { by: "id" } }],
    ["dedup.content", { dedup: { by: "content" } }],
    ["dedup.content", { dedup: { by: "id", content: "raw" } }],
    ["dedup.include", { dedup: { by: "both", content: "json", include: ["id"] } }],
    ["dedup.exclude", { dedup: { by: "both", content: "raw", exclude: ["/id"] } }],
    ["windowS", { windowS: 0 }],
    ["windowS", { windowS: 1.5 }],
    ["windowS", { windowS: 3600 }],
    ["key", { key: {} }],
    ["key", { key: { header: "a b" } }],
    ["key", { key: { json: "customer" } }],
    ["forwardHeaders", { forwardHeaders: "x-*" }],
    ["forwardHeaders.1", { forwardHeaders: ["x-*", "a b"] }],
    ["forwardHeaders.0", { forwardHeaders: ["Authorization"] }],
    ["forwardHeaders.0", { forwardHeaders: ["webhook-id"] }],
  ])("is refused with the name of the field: %s", (field, change) => {
    expect(refusal(change).field).toBe(field);
  });

  it("is refused with the name that was probably meant", () => {
    expect(refusal({ scheme: "strype" }).message).toBe(
      `scheme: there is no "strype"; did you mean "stripe"? There are ${[...SOURCE_SCHEMES.keys()].join(", ")}.`,
    );
    expect(refusal({ options: { tolerance: 5 } }).message).toBe(
      'options.tolerance: the scheme "stripe" has no such option; did you mean "toleranceS"?',
    );
  });

  it("keeps the names of headers in lower case", () => {
    const made = checkSource(
      { ...STRIPE, key: { header: "X-Account" }, forwardHeaders: ["X-Billing-*"] },
      clock,
    );
    expect(made).toMatchObject({ key: { header: "x-account" }, forwardHeaders: ["x-billing-*"] });
  });
});

describe("a change of a source", () => {
  const before = checkSource({ ...STRIPE, options: { toleranceS: 60 }, key: { json: "/a" } }, clock);

  it("holds what it names, and nothing that it leaves alone", () => {
    expect(checkSourceChange(before, {}, clock)).toEqual({});
    expect(checkSourceChange(before, { windowS: 300_000 }, clock)).toEqual({ windowS: 300_000 });
  });

  it("can take the key away", () => {
    const change = checkSourceChange(before, { key: null }, clock);
    expect([Object.keys(change), change.key]).toEqual([["key"], undefined]);
  });

  it("is checked together with what stays", () => {
    expect(() => checkSourceChange(before, { windowS: 60 }, clock)).toThrow("Stripe redelivers");
    expect(() => checkSourceChange(before, { scheme: "none" }, clock)).toThrow("allowUnverified");
  });

  it("to another scheme drops the options of the old one", () => {
    expect(checkSourceChange(before, { scheme: "github" }, clock)).toEqual({
      scheme: "github",
      options: {},
      dedup: { by: "id" },
    });
    expect(checkSourceChange(before, { scheme: "none", allowUnverified: true }, clock)).toMatchObject({
      secrets: [],
      dedup: { by: "content", content: "raw" },
    });
  });

  it("of a source that nobody signs need not say so again", () => {
    const open = checkSource({ name: "open", scheme: "none", allowUnverified: true }, clock);
    expect(checkSourceChange(open, { windowS: 60 }, clock).windowS).toBe(60);
    expect(() => checkSourceChange(open, { scheme: "stripe" }, clock)).toThrow("secrets");
  });
});
