import { standardWebhooks, verify } from "posthorn";
import { everyItem } from "posthorn/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench();
});
afterAll(closeBenches);

const url = "https://example.com/hooks";

describe("an endpoint", () => {
  it("is made with a secret that is shown this once", async () => {
    const { endpoints } = bench.client();
    const made = await endpoints.create({ url, types: ["order.*"] });
    expect(made.secret).toMatch(/^whsec_/);
    expect(made).toMatchObject({
      url,
      tenant: "default",
      sources: ["*"],
      types: ["order.*"],
      order: "key",
      dead: null,
      state: "active",
      because: null,
      secretCount: 1,
      version: 1,
    });
    const { secret: _, ...rest } = made;
    expect(await endpoints.get(made.id)).toEqual(rest);
  });

  it("never shows a secret that was given", async () => {
    const { endpoints } = bench.client();
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const made = await endpoints.create({ id: "given", url, secrets: [secret] });
    const all = [
      made,
      await endpoints.get("given"),
      await endpoints
        .update("given", { secrets: [secret, secret.toLowerCase().replace("whsec_", "whsec_A")] })
        .catch(() => ""),
      await endpoints.update("given", { maxInFlight: 2 }),
      await endpoints.list(),
    ];
    expect(JSON.stringify(all)).not.toContain("MfKQ9r8");
    expect(made).not.toHaveProperty("secret");
  });

  it("is changed in what is named, and its dead policy goes back to the rule by null", async () => {
    const { endpoints } = bench.client();
    const { id } = await endpoints.create({ url, dead: "park", retry: { maxAttempts: 3 } });
    const changed = await endpoints.update(id, { order: "none", retry: { waitsMs: [1, 2] } });
    expect(changed).toMatchObject({ order: "none", dead: "park", retry: { kind: "list", waitsMs: [1, 2] } });
    expect(await endpoints.update(id, { dead: null })).toMatchObject({ dead: null, order: "none" });
    // What was read can be written back.
    expect(await endpoints.update(id, { retry: changed.retry })).toMatchObject({ retry: changed.retry });
  });

  it("pauses, resumes and goes", async () => {
    const { endpoints } = bench.client();
    const { id } = await endpoints.create({ url });
    expect((await endpoints.pause(id)).state).toBe("paused");
    expect((await endpoints.resume(id)).state).toBe("active");
    await endpoints.remove(id);
    for (const call of [
      endpoints.get(id),
      endpoints.pause(id),
      endpoints.remove(id),
      endpoints.update(id, { url }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "api_not_found" });
    }
  });

  it("is refused where another has its id", async () => {
    const { endpoints } = bench.client();
    await endpoints.create({ id: "taken", url });
    await expect(endpoints.create({ id: "taken", url })).rejects.toMatchObject({ code: "api_conflict" });
  });

  it.each([
    ["url", { url: "http://example.com/" }, /serve --dev/],
    ["url", { url: "https://127.0.0.1/" }, /serve --dev/],
    ["url", { url: "https://10.1.2.3/" }, /--allow-addresses 10\.1\.2\.3/],
    ["url", { url: "https://169.254.169.254/" }, /169\.254/],
    ["url", { url: "https://user:password@example.com/" }, /user/],
    ["url", { url: "example.com" }, /URL/],
    ["secrets", { url, secrets: ["whsec_x"] }, /secrets\[0\]/],
    ["retry", { url, retry: { maxAttempts: 0 } }, /maxAttempts/],
    ["order", { url, order: "fifo" as never }, /key, endpoint, none/],
    ["types", { url, types: [] }, /types/],
    ["secrets.0", { url, secrets: [7 as never] }, /string/],
    ["retry.maxAttempt", { url, retry: { maxAttempt: 3 } }, /maxAttempts meant/],
  ])("is refused with its field %s: %j", async (field, input, told) => {
    await expect(bench.client().endpoints.create(input)).rejects.toMatchObject({
      code: "api_refused",
      message: expect.stringMatching(told) as string,
      detail: { field },
    });
  });

  it("may be on loopback, without TLS, where the server is for development", async () => {
    const dev = await apiBench({ settings: { dev: true } });
    expect(await dev.client().endpoints.create({ url: "http://127.0.0.1:3000/" })).toMatchObject({
      url: "http://127.0.0.1:3000/",
    });
  });

  it("is found page by page, of one tenant or of all", async () => {
    const { endpoints } = bench.client();
    for (const n of [1, 2, 3, 4, 5]) await endpoints.create({ id: `page_${n}`, url, tenant: "pages" });
    const found: string[] = [];
    for await (const { id } of everyItem((page) => endpoints.list({ ...page, tenant: "pages" }), {
      limit: 2,
    }))
      found.push(id);
    expect(found).toEqual(["page_1", "page_2", "page_3", "page_4", "page_5"]);
    expect((await endpoints.list({ limit: 5, tenant: "pages" })).next).toBeNull();
  });
});

describe("a test send", () => {
  it("is signed with the endpoint's secret, goes through the one egress, and is not stored", async () => {
    const client = bench.client();
    const { id, secret = "" } = await client.endpoints.create({ url });
    bench.answer({
      outcome: { kind: "refused", status: 422 },
      answer: new TextEncoder().encode("no"),
      durationMs: 12,
      detail: undefined,
    });
    const told = await client.endpoints.test(id, { type: "order.paid", data: { n: 1 } });
    expect(told).toEqual({
      eventId: expect.stringMatching(/^evt_test_/) as string,
      outcome: "refused",
      status: 422,
      error: null,
      detail: null,
      durationMs: 12,
      answer: "bm8=",
    });
    const sent = bench.sent.at(-1);
    const { headers = {}, body = new Uint8Array(), maxAnswerBytes, deadlineMs } = sent ?? {};
    const verifier = standardWebhooks({ secrets: secret, clock: bench.clock });
    const { keyIndex, signedAt } = await verify(verifier, { headers, body, method: "POST" });
    expect([headers["webhook-id"], keyIndex, signedAt]).toEqual([
      told.eventId,
      0,
      new Date(bench.clock.now()),
    ]);
    expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ type: "order.paid", data: { n: 1 } });
    expect([maxAnswerBytes, deadlineMs]).toEqual([4096, 15_000]);
    expect((await client.events.list()).items).toEqual([]);
  });

  it("needs no wishes, and tells why nothing was sent", async () => {
    const { id } = await bench.client().endpoints.create({ url });
    bench.answer({
      outcome: { kind: "forbidden", reason: "private_address" },
      answer: undefined,
      durationMs: 0,
      detail: "where nothing is sent",
    });
    const answer = await bench.call("POST", `/api/v1/endpoints/${id}/test`);
    expect(answer.json()).toMatchObject({
      outcome: "forbidden",
      error: "private_address",
      detail: "where nothing is sent",
    });
    await expect(bench.client().endpoints.test("none")).rejects.toMatchObject({ code: "api_not_found" });
  });
});
