import { describe, expect, it } from "vitest";
import { generateKeyPair, generateSecret } from "../signature/keys/secret.js";
import { changeOf, endpointOf } from "./endpoint-options.js";
import type { EndpointOptions } from "./endpoint-options.js";

const rules = { allowHttp: false };
const secret = generateSecret();

function endpoint(options: Partial<EndpointOptions> = {}) {
  return endpointOf({ url: "https://example.com/hooks", secrets: secret, ...options }, 0, rules);
}

describe("an endpoint", () => {
  it("is completed with what most need", () => {
    expect(endpoint()).toMatchObject({
      tenant: "default",
      secrets: [secret],
      sources: ["*"],
      types: ["*"],
      order: "key",
      dead: undefined,
      maxInFlight: 64,
      state: "active",
      version: 1,
    });
    expect(endpoint().id).toMatch(/^ep_/);
  });

  it("is reached without TLS only where that is allowed", () => {
    const url = "http://localhost:3000/";
    expect(endpointOf({ url, secrets: secret }, 0, { allowHttp: true }).url).toBe(url);
    expect(() => endpoint({ url })).toThrow("`allowHttp`");
  });

  it("changes only in what is named", () => {
    expect(changeOf({ types: ["order.*"] }, rules)).toEqual({ types: ["order.*"] });
    expect(changeOf({}, rules)).toEqual({});
  });

  it("cannot sign with a public key", async () => {
    const { publicKey, signingKey } = await generateKeyPair();
    expect(endpoint({ secrets: [secret, signingKey] }).secrets).toHaveLength(2);
    expect(() => endpoint({ secrets: publicKey })).toThrow("public key");
  });

  it.each<[string, Partial<EndpointOptions>]>([
    ["a URL that is none", { url: "example.com" }],
    ["a URL that is missing", { url: undefined as never }],
    ["another scheme", { url: "ftp://example.com/" }],
    ["a password in its URL", { url: "https://a:b@example.com/" }],
    ["no secret", { secrets: [] }],
    ["nine secrets", { secrets: Array.from({ length: 9 }, generateSecret) }],
    ["no pattern", { types: [] }],
    ["a pattern that is none", { types: [""] }],
    ["an order that is none", { order: "random" as never }],
    ["a dead policy that is none", { dead: "drop" as never }],
    ["no room", { maxInFlight: 0 }],
    ["an id with a slash", { id: "../x" }],
  ])("with %s is refused", (_, options) => {
    expect(() => endpoint(options)).toThrow(expect.objectContaining({ code: "endpoint_invalid" }) as Error);
  });

  it("with a secret that cannot be read is refused by the secret's own error", () => {
    expect(() => endpoint({ secrets: "whsec_short" })).toThrow(
      expect.objectContaining({ code: "secret_malformed" }) as Error,
    );
  });
});
