import { afterAll, beforeAll, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench();
  const request = (n: number, source: string) => ({
    id: `rej_${n}`,
    source,
    receivedAt: new Date(bench.clock.now() + n),
    method: "POST",
    headers: { "content-type": "text/html" },
    body: new TextEncoder().encode("<b>"),
    bodyBytes: 3000,
    code: "signature_mismatch",
    message: "No signature matches.",
    diagnosis: ["The body was parsed and written again."],
    whole: undefined,
  });
  await bench.parts.registry.recordRejected([request(1, "a"), request(2, "b"), request(3, "a")], 10);
});
afterAll(closeBenches);

it("rejected requests are found newest first, of one source or of all, with what forensics found", async () => {
  const { rejected } = bench.client();
  const first = await rejected.list({ limit: 2 });
  expect(first.items.map(({ id }) => id)).toEqual(["rej_3", "rej_2"]);
  expect((await rejected.list({ after: first.next ?? "", limit: 2 })).items.map(({ id }) => id)).toEqual([
    "rej_1",
  ]);
  expect((await rejected.list({ source: "a" })).items.map(({ id }) => id)).toEqual(["rej_3", "rej_1"]);
  expect(await rejected.get("rej_2")).toEqual({
    id: "rej_2",
    source: "b",
    receivedAt: "2026-11-16T00:00:00.002Z",
    method: "POST",
    headers: { "content-type": "text/html" },
    bodyBytes: 3000,
    code: "signature_mismatch",
    message: "No signature matches.",
    retryable: false,
    diagnosis: ["The body was parsed and written again."],
  });
  await expect(rejected.get("rej_9")).rejects.toMatchObject({ code: "api_not_found" });
});

it("the body of a rejected request is only ever a file", async () => {
  expect(new TextDecoder().decode(await bench.client().rejected.body("rej_1"))).toBe("<b>");
  const { headers } = await bench.call("GET", "/api/v1/rejected/rej_1/body");
  expect(headers).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": 'attachment; filename="rej_1.bin"',
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  });
});
