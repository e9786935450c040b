import { describe, expect, it } from "vitest";
import type { Signal } from "../observer.js";
import { github } from "./schemes/github.js";
import { hmac } from "./schemes/hmac.js";
import { square } from "./schemes/square.js";
import { STANDARD_WEBHOOKS, standardWebhooks } from "./schemes/standard.js";
import { stripe } from "./schemes/stripe.js";
import { keySetFromJwks } from "./keys/jwks.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("a verifier", () => {
  it("has the scheme's own tolerance and the system's clock unless told otherwise", () => {
    expect(standardWebhooks({ secrets: SECRET })).toMatchObject({
      scheme: { name: STANDARD_WEBHOOKS.name },
      toleranceS: 300,
      requireOrder: false,
    });
    expect(standardWebhooks({ secrets: SECRET, toleranceS: 5 }).toleranceS).toBe(5);
  });

  it("is frozen, so that nothing is reconfigured after it was checked", () => {
    expect(Object.isFrozen(standardWebhooks({ secrets: SECRET }))).toBe(true);
  });

  it("names its keys by their place, or as told", () => {
    const verifier = standardWebhooks({ secrets: [SECRET, { name: "old", secret: SECRET }, SECRET] });
    const keys = typeof verifier.keys === "function" ? [] : verifier.keys.keys;
    expect(keys.map((key) => key.name)).toEqual(["secret 1", "old", "secret 3"]);
  });

  it("takes keys as values instead of secrets", () => {
    const keys = keySetFromJwks({
      keys: [{ kty: "OKP", crv: "Ed25519", kid: "k", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    });
    expect(standardWebhooks({ keys }).keys).toBe(keys);
  });

  it.each([
    ["nothing", {}],
    ["undefined", { secrets: undefined }],
    ["an empty text", { secrets: "" }],
    ["an empty list", { secrets: [] }],
    ["a list with an empty text", { secrets: [SECRET, ""] }],
    ["a list with undefined, as an unset variable gives it", { secrets: [undefined] }],
    ["null", { secrets: null }],
    ["a name without a secret", { secrets: { name: "a" } }],
    ["a number", { secrets: 5 }],
  ])("is not made from %s: there is no way to verify without a secret", (_, options) => {
    expect(() => standardWebhooks(options as Parameters<typeof standardWebhooks>[0])).toThrow(
      expect.objectContaining({ code: "secret_missing" }),
    );
  });

  it.each([
    ["options with `secret`", { secret: SECRET }],
    ["a text", SECRET],
  ])("is not made from %s, and never shows it", (_, options) => {
    const made = (): unknown => standardWebhooks(options as Parameters<typeof standardWebhooks>[0]);
    expect(made).toThrow("is it given as { secrets }?");
  });

  it("is not made from one good secret beside a bad one", () => {
    expect(() => standardWebhooks({ secrets: [SECRET, "whsec_short"] })).toThrow(
      "secret 2 is not base64. Copy it whole, without spaces or quotes.",
    );
  });

  it("refuses options that would switch a check off", () => {
    for (const toleranceS of [0, -1, Number.NaN, Infinity, "300" as unknown as number])
      expect(() => standardWebhooks({ secrets: SECRET, toleranceS })).toThrow(
        expect.objectContaining({ code: "option_invalid" }),
      );
    expect(() => square({ secrets: "a secret of sixteen", publicUrl: "example.com/hooks" })).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
  });
});

describe("what is no webhook's secret is refused at construction, with what to paste instead:", () => {
  const stripes =
    'Paste the endpoint\'s signing secret, "whsec_…": each endpoint has its own, and so has the Stripe CLI.';

  it.each([
    ["sk_live_51HcanaryCANARYcanary", "sk_live_"],
    ["sk_test_51HcanaryCANARYcanary", "sk_test_"],
    ["rk_live_51HcanaryCANARYcanary", "rk_live_"],
    ["pk_test_51HcanaryCANARYcanary", "pk_test_"],
  ])("the API key %s", (secret, prefix) => {
    expect(() => stripe({ secrets: [SECRET, secret] })).toThrow(
      expect.objectContaining({
        code: "secret_malformed",
        message: `secret 2 is an API key, "${prefix}…". ${stripes}`,
        detail: { key: "secret 2" },
      }),
    );
  });

  it.each(["whsec_…", "whsec_4f1c0e…", "…", "whsec_...", "whsec_4f1c0e...", "..."])(
    "the placeholder %s",
    (secret) => {
      expect(() => stripe({ secrets: [SECRET, secret] })).toThrow(
        expect.objectContaining({
          code: "secret_malformed",
          message: `secret 2 is a placeholder: it ends in "${secret.slice(-1) === "…" ? "…" : "..."}". ${stripes}`,
        }),
      );
    },
  );

  it("but not a secret of a person's choice that ends in three dots", () => {
    expect(() => github({ secrets: "and so it goes on..." })).not.toThrow();
  });

  it("a secret of one character", () => {
    expect(() => github({ secrets: { name: "old", secret: "x" } })).toThrow(
      expect.objectContaining({
        code: "secret_malformed",
        message: "old has one character. Paste the secret that you gave the webhook.",
      }),
    );
  });

  it("an API key for a scheme that the caller described", () => {
    const described = {
      name: "acme",
      title: "Acme",
      header: "x-acme",
      encoding: "hex",
      retryHorizonS: 0,
    } as const;
    expect(() => hmac({ ...described, secrets: "sk_live_51HcanaryCANARYcanary" })).toThrow(
      expect.objectContaining({
        message: 'secret 1 is an API key, "sk_live_…". Paste the secret with which Acme signs its webhooks.',
      }),
    );
  });

  it("an API key for Standard Webhooks, though it is base64 as well", () => {
    expect(() => standardWebhooks({ secrets: "sk_live_51Habcdefghijklmnopqrstuvwxyz0123456" })).toThrow(
      expect.objectContaining({
        code: "secret_malformed",
        message:
          'secret 1 has another prefix than one "whsec_" or "whpk_". ' +
          "Copy it whole, without spaces or quotes.",
      }),
    );
  });
});

describe("a secret that a provider made too short", () => {
  it("is accepted and signalled once, at construction, by its name and length", () => {
    const signals: Signal[] = [];
    const secrets = [{ name: "old", secret: "fifteen bytes ." }, "sixteen bytes ..", "short"];
    stripe({ secrets, observer: (signal) => signals.push(signal) });
    expect(signals).toEqual([
      { kind: "secret_weak", scheme: "stripe", key: "old", bytes: 15 },
      { kind: "secret_weak", scheme: "stripe", key: "secret 3", bytes: 5 },
    ]);
  });
});

it("a tolerance is refused where no time is signed, instead of being kept in silence", () => {
  expect(() => github({ secrets: "sixteen bytes ..", toleranceS: 300 })).toThrow(
    expect.objectContaining({
      code: "option_invalid",
      message: "toleranceS is 300; GitHub signs no time, so no tolerance can be kept. Leave it out.",
    }),
  );
});

it("a public URL of another protocol is refused", () => {
  expect(() => square({ secrets: "sixteen bytes ..", publicUrl: "ftp://example.com/hooks" })).toThrow(
    expect.objectContaining({ code: "option_invalid" }),
  );
});
