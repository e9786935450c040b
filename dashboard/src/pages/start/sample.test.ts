import { verify } from "posthorn";
import { github, shopify, standardWebhooks, stripe } from "posthorn/providers";
import { describe, expect, it } from "vitest";
import { newSecret, sampleBody, signed } from "./sample.ts";

const verifiers = {
  stripe,
  github,
  shopify,
  standard_webhooks: standardWebhooks,
} as const;

describe("a sample", () => {
  it.each(Object.keys(verifiers) as (keyof typeof verifiers)[])(
    "of %s is signed as its provider signs",
    async (scheme) => {
      const secret = newSecret(scheme);
      const wish = { scheme, nowMs: Date.now(), id: "one" };
      const sample = await signed({ ...wish, secret, body: sampleBody(wish) });
      const request = { headers: sample?.headers ?? {}, body: new TextEncoder().encode(sample?.body) };
      await expect(verify(verifiers[scheme]({ secrets: secret }), request)).resolves.toBeDefined();
      await expect(verify(verifiers[scheme]({ secrets: newSecret(scheme) }), request)).rejects.toThrow(
        /signature/i,
      );
    },
  );

  it("of another provider is not signed here", async () => {
    expect(await signed({ scheme: "slack", secret: "s", nowMs: 0, id: "one", body: "{}" })).toBeUndefined();
  });
});
