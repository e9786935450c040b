import { describe, expect, it } from "vitest";
import { createAddressGuard } from "../delivery/egress/address-guard.js";
import { generateKeyPair, generateSecret } from "../signature/keys/secret.js";
import { changeOf, endpointOf } from "./endpoint-options.js";
import type { EndpointOptions } from "./endpoint-options.js";

const rules = { guard: undefined };
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

  it("is where the guard allows it, and is refused in the guard's own words", () => {
    const url = "http://localhost:3000/";
    const allowing = { guard: { judgeUrl: () => ({ kind: "allowed" }) as const } };
    expect(endpointOf({ url, secrets: secret }, 0, allowing).url).toBe(url);
    const refusing = {
      guard: { judgeUrl: () => ({ kind: "forbidden", message: "Nothing is sent there." }) as const },
    };
    expect(() => endpointOf({ url: "https://example.com/", secrets: secret }, 0, refusing)).toThrow(
      "Nothing is sent there.",
    );
  });

  it.each([
    ["http://example.com/", "createAddressGuard({ allowHttp: true })"],
    ["https://localhost:3000/", 'createAddressGuard({ allowAddresses: ["127.0.0.1", "::1"] })'],
    ["http://localhost:3000/", '({ allowHttp: true, allowAddresses: ["127.0.0.1", "::1"] })'],
    ["http://127.0.0.1:6379/", '({ allowHttp: true, allowAddresses: ["127.0.0.1"], allowPorts: [6379] })'],
    ["https://billing.internal/", "allowAddresses: [the addresses that it resolves to]"],
    ["https://billing/", "allowAddresses: [the addresses that it resolves to]"],
    ["https://0x7f.1/", "127.0.0.1 is an address, which only a guard judges"],
    ["https://[::1]/", 'allowAddresses: ["::1"]'],
    ["https://example.com:25/", "allowPorts: [25]"],
    ["https://a..example.com/", "DNS allows no such name."],
  ])("without a guard is not %s, where nobody would deliver: %s is told", (url, told) => {
    expect(() => endpoint({ url })).toThrow(told);
  });

  it("that was refused without a guard is taken and delivered to by the guard that the refusal names", () => {
    const url = "http://localhost:3000/hooks";
    const guard = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.1", "::1"] });
    expect(endpointOf({ url, secrets: secret }, 0, { guard }).url).toBe(url);
    expect(guard.judgeUrl(url).kind).toBe("allowed");
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
