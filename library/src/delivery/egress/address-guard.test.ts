import { describe, expect, it, vi } from "vitest";
import { createAddressGuard } from "./address-guard.js";
import type { Forbidden } from "./address-guard.js";

describe("a refusal", () => {
  it.each([
    ["http://example.com/", "allowHttp: true"],
    ["https://10.0.0.1/", 'allowAddresses: ["10.0.0.1"]'],
    ["https://localhost/", "allowAddresses"],
    ["https://example.com:25/", "allowPorts: [25]"],
  ])("of %s names the setting that would allow it", (url, setting) => {
    const verdict = createAddressGuard().judgeUrl(url);
    expect((verdict as Forbidden).message).toContain(setting);
  });

  it("can be thrown, where an endpoint is created or changed", () => {
    const guard = createAddressGuard();
    expect(() => guard.requireUrl("https://10.0.0.1/")).toThrow(
      expect.objectContaining({ code: "address_forbidden", detail: { reason: "private_address" } }),
    );
    expect(guard.requireUrl("https://example.com:8443/a?b#c")).toEqual({
      kind: "allowed",
      origin: "https://example.com:8443",
      path: "/a?b",
      hostname: "example.com",
    });
  });

  it("never has a password in its message", () => {
    const verdict = createAddressGuard().judgeUrl("https://user:hunter2@example.com/");
    expect(JSON.stringify(verdict)).not.toContain("hunter2");
  });
});

describe("a name", () => {
  it("is refused if any of its addresses is forbidden", async () => {
    const guard = createAddressGuard({ resolve: () => Promise.resolve(["93.184.215.14", "10.0.0.1"]) });
    expect(await guard.locate("example.com")).toMatchObject({ kind: "forbidden", reason: "private_address" });
  });

  it("that is refused is never resolved", async () => {
    const resolve = vi.fn<() => Promise<string[]>>();
    const guard = createAddressGuard({ resolve });
    expect(await guard.locate("metadata.google.internal")).toMatchObject({
      kind: "forbidden",
      reason: "name",
    });
    expect(resolve).not.toHaveBeenCalled();
  });

  it("without an address is no name", async () => {
    const guard = createAddressGuard({ resolve: () => Promise.resolve([]) });
    await expect(guard.locate("example.com")).rejects.toThrow("has no address");
  });

  it("of the machine itself is resolved by the system", async () => {
    const guard = createAddressGuard({ allowAddresses: ["127.0.0.0/8", "::1"] });
    const addresses = (await guard.locate("localhost")) as readonly string[];
    expect(addresses.every((address) => address === "127.0.0.1" || address === "::1")).toBe(true);
  });
});

it.each([
  { allowAddresses: ["10.0.0.0/33"] },
  { allowAddresses: ["10.0.0"] },
  { allowAddresses: ["localhost"] },
  { allowAddresses: ["fe80::%eth0/10"] },
  { allowAddresses: ["::/129"] },
  { allowAddresses: ["10.0.0.0/-1"] },
  { allowAddresses: ["10.0.0.0/8/8"] },
  { allowAddresses: [""] },
  { denyAddresses: ["*"] },
  { allowPorts: [0] },
  { allowPorts: [65_536] },
  { allowPorts: [Number.NaN] },
])("a setting that cannot work is found at once: %j", (options) => {
  expect(() => createAddressGuard(options)).toThrow(
    expect.objectContaining({ code: "egress_option_invalid" }),
  );
});
