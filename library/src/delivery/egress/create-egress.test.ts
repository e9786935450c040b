import { expect, it, vi } from "vitest";
import { createAddressGuard } from "./address-guard.js";
import { createEgress } from "./create-egress.js";

it.each([
  { maxConnections: 0 },
  { maxConnections: 1.5 },
  { keepAliveMs: -1 },
  { maxHeaderBytes: Number.NaN },
  { ca: ["no certificate"] },
  { allowAddresses: ["everything"] },
])("an option that cannot work is found at once: %j", async (options) => {
  await expect(createEgress(options)).rejects.toMatchObject({ code: "egress_option_invalid" });
});

it("without undici, the error has the line that installs it", async () => {
  vi.doMock("undici", () => {
    throw Object.assign(new Error("Cannot find package 'undici'"), { code: "ERR_MODULE_NOT_FOUND" });
  });
  try {
    await expect(createEgress()).rejects.toMatchObject({
      code: "undici_missing",
      message: expect.stringContaining("npm install undici"),
    });
  } finally {
    vi.doUnmock("undici");
  }
});

it("a forbidden address is an outcome, and says which setting would allow it", async () => {
  const egress = await createEgress();
  const request = { headers: {}, body: new Uint8Array(), deadlineMs: 1000 };
  expect(await egress.post({ url: "http://example.com/", ...request })).toMatchObject({
    outcome: { kind: "forbidden", reason: "scheme" },
    detail: expect.stringContaining("allowHttp"),
    answer: undefined,
  });
  await egress.close();
});

it("a guard that is handed in judges each URL", async () => {
  const guard = createAddressGuard({ denyAddresses: ["8.8.8.8"] });
  const egress = await createEgress({ guard });
  const request = { headers: {}, body: new Uint8Array(), deadlineMs: 1000 };
  const { outcome } = await egress.post({ url: "https://8.8.8.8/", ...request });
  expect(outcome).toEqual({ kind: "forbidden", reason: "private_address" });
  await egress.close();
});
