import { describe, expect, it } from "vitest";
import { isPosthornError } from "../posthorn-error.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createClient } from "./client.js";
import type { Client } from "./client.js";
import type { ClientOptions } from "./client-options.js";
import { everyItem } from "./every-item.js";
import { problemOf } from "./problem.js";

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

type Answer = Response | Error;

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

const problem = (status: number, code: string, more: object = {}): Response =>
  json({ type: "about:blank", title: code, status, detail: `It is ${code}.`, code, ...more }, status);

const html = (status: number): Response => new Response("<html>", { status });

const lost = (): Error => new TypeError("fetch failed");

/** A client whose server gives these answers, one after the other. */
function clientOf(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const asked: Asked[] = [];
  const slept: number[] = [];
  const left = [...answers];
  const clock = {
    ...createFakeClock(),
    sleep: (ms: number) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
  const client = createClient({
    url: "http://127.0.0.1:8710",
    token: "phk_test",
    clock,
    fetch: (url, init) => {
      asked.push({ url, init });
      const answer = left.shift() ?? new Error("nothing more was expected");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    ...options,
  });
  return { client, asked, slept };
}

async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isPosthornError(error)) throw new Error(`expected a PosthornError, found ${String(error)}`);
  return error;
}

describe("a client", () => {
  it("sends its token, and JSON where there is something to say", async () => {
    const { client, asked } = clientOf([json({ id: "ep_1" }, 201)]);
    expect(await client.endpoints.create({ url: "https://example.com/" })).toEqual({ id: "ep_1" });
    expect(asked).toMatchObject([
      {
        url: "http://127.0.0.1:8710/api/v1/endpoints",
        init: {
          method: "POST",
          redirect: "manual",
          body: '{"url":"https://example.com/"}',
          headers: { authorization: "Bearer phk_test", "content-type": "application/json" },
        },
      },
    ]);
  });

  it("escapes names and queries, and leaves out what is not asked for", async () => {
    const { client, asked } = clientOf([json({ items: [], next: null }), json({})]);
    await client.events.list({ type: "a&b", key: undefined, limit: 5 });
    await client.events.get("a/b?c#d", { tenant: "t t" });
    expect(asked.map(({ url }) => url.slice(url.indexOf("/api")))).toEqual([
      "/api/v1/events?type=a%26b&limit=5",
      "/api/v1/events/a%2Fb%3Fc%23d?tenant=t+t",
    ]);
  });

  it("refuses a name that would be a step in the path, and asks nobody", async () => {
    const { client, asked } = clientOf([]);
    const { code } = await failureOf(client.sources.remove(".."));
    expect(code).toBe("api_refused");
    expect(asked).toEqual([]);
  });

  it("keeps a path before the API, and takes the address with or without the API's own", async () => {
    for (const url of ["https://example.com/hooks/", "https://example.com/hooks/api/v1"]) {
      const { client, asked } = clientOf([json({ items: [], next: null })], { url });
      await client.dead.list();
      expect(asked[0]?.url).toBe("https://example.com/hooks/api/v1/dead");
    }
  });

  it("has every call that the API has", async () => {
    const answers = Array.from({ length: 30 }, () => json({ items: [], next: null }));
    const { client, asked } = clientOf(answers);
    const calls = everyCall(client);
    for (const [call] of calls) await call();
    expect(asked.map(({ url, init }) => `${init.method} ${new URL(url).pathname}`)).toEqual(
      calls.map(([, wanted]) => wanted),
    );
  });

  it("names the head that it skips", async () => {
    const { client, asked } = clientOf([problem(409, "lane_moved", { head: "8" })]);
    const error = await failureOf(client.lanes.skip("1", "7"));
    expect(asked.map(({ init }) => init.body)).toEqual(['{"head":"7"}']);
    expect(error.code).toBe("api_conflict");
    expect(problemOf(error)).toMatchObject({ code: "lane_moved", head: "8" });
  });

  it("gives bytes as they are", async () => {
    const { client } = clientOf([new Response(new Uint8Array([0, 255, 10]))]);
    expect([...(await client.events.body("evt_1"))]).toEqual([0, 255, 10]);
  });

  it("goes through every page of a list", async () => {
    const { client, asked } = clientOf([
      json({ items: [{ id: "1" }, { id: "2" }], next: "n" }),
      json({ items: [], next: "m" }),
      json({ items: [{ id: "3" }], next: null }),
    ]);
    const ids: string[] = [];
    for await (const { id } of everyItem((page) => client.dead.list(page), { limit: 2 })) ids.push(id);
    expect(ids).toEqual(["1", "2", "3"]);
    expect(asked.map(({ url }) => new URL(url).search)).toEqual([
      "?limit=2",
      "?after=n&limit=2",
      "?after=m&limit=2",
    ]);
  });
});

function everyCall(client: Client): readonly (readonly [() => Promise<unknown>, string])[] {
  return [
    [() => client.sources.list(), "GET /api/v1/sources"],
    [() => client.sources.create({ name: "s", scheme: "stripe" }), "POST /api/v1/sources"],
    [() => client.sources.get("s"), "GET /api/v1/sources/s"],
    [() => client.sources.update("s", { windowS: 1 }), "PATCH /api/v1/sources/s"],
    [() => client.sources.remove("s"), "DELETE /api/v1/sources/s"],
    [() => client.endpoints.list(), "GET /api/v1/endpoints"],
    [() => client.endpoints.get("e"), "GET /api/v1/endpoints/e"],
    [() => client.endpoints.update("e", { order: "none" }), "PATCH /api/v1/endpoints/e"],
    [() => client.endpoints.remove("e"), "DELETE /api/v1/endpoints/e"],
    [() => client.endpoints.pause("e"), "POST /api/v1/endpoints/e/pause"],
    [() => client.endpoints.resume("e"), "POST /api/v1/endpoints/e/resume"],
    [() => client.endpoints.test("e"), "POST /api/v1/endpoints/e/test"],
    [() => client.deliveries.list({ event: "v" }), "GET /api/v1/deliveries"],
    [() => client.deliveries.get("dlv_1"), "GET /api/v1/deliveries/dlv_1"],
    [() => client.deliveries.attempts("dlv_1"), "GET /api/v1/deliveries/dlv_1/attempts"],
    [() => client.redrive("dlv_1"), "POST /api/v1/deliveries/dlv_1/redrive"],
    [() => client.lanes.list(), "GET /api/v1/lanes"],
    [() => client.lanes.get("1"), "GET /api/v1/lanes/1"],
    [() => client.lanes.skip("1", "7"), "POST /api/v1/lanes/1/skip"],
    [() => client.endpoints.retry("e"), "POST /api/v1/endpoints/e/retry"],
    [() => client.lanes.retry("1"), "POST /api/v1/lanes/1/retry"],
    [() => client.deliveries.retry("dlv_1"), "POST /api/v1/deliveries/dlv_1/retry"],
    [() => client.rejected.list(), "GET /api/v1/rejected"],
    [() => client.rejected.get("rej_1"), "GET /api/v1/rejected/rej_1"],
    [() => client.rejected.body("rej_1"), "GET /api/v1/rejected/rej_1/body"],
    [() => client.rejected.retry("rej_1"), "POST /api/v1/rejected/rej_1/retry"],
    [() => client.tokens.list(), "GET /api/v1/tokens"],
    [() => client.tokens.create({ name: "n", scope: "read" }), "POST /api/v1/tokens"],
    [() => client.tokens.remove("tok_1"), "DELETE /api/v1/tokens/tok_1"],
  ];
}

describe("an error of a client", () => {
  it.each([
    [400, "request_invalid", "api_refused"],
    [401, "unauthorised", "api_unauthorised"],
    [403, "forbidden", "api_unauthorised"],
    [404, "not_found", "api_not_found"],
    [409, "conflict", "api_conflict"],
    [500, "internal", "api_failed"],
  ])("of the status %i holds the problem", async (status, code, wanted) => {
    const { client } = clientOf([problem(status, code, { field: "url", requestId: "req_1", ids: ["a"] })]);
    const error = await failureOf(client.endpoints.pause("e"));
    expect(error).toMatchObject({ code: wanted, message: `It is ${code}.` });
    expect(problemOf(error)).toEqual({
      type: "about:blank",
      title: code,
      status,
      code,
      detail: `It is ${code}.`,
      field: "url",
      requestId: "req_1",
      ids: ["a"],
    });
  });

  it("says so where something else answers", async () => {
    const { client } = clientOf([html(200), html(404), html(302)], { retries: 0 });
    expect((await failureOf(client.lanes.get("1"))).code).toBe("api_answer_invalid");
    expect((await failureOf(client.lanes.get("1"))).code).toBe("api_answer_invalid");
    expect((await failureOf(client.lanes.get("1"))).message).toContain("redirect");
  });

  it("names the network's own reason", async () => {
    const refused = new TypeError("fetch failed", {
      cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
    });
    const { client } = clientOf([refused], { retries: 0 });
    const error = await failureOf(client.dead.list());
    expect(error.code).toBe("api_unreachable");
    expect(error.message).toContain("ECONNREFUSED");
    expect(problemOf(error)).toBeUndefined();
  });

  it("tells a time that ran out from a server that is not there", async () => {
    const { client } = clientOf([new DOMException("late", "TimeoutError")], { retries: 0, timeoutMs: 7 });
    expect((await failureOf(client.dead.list())).message).toContain("within 7 ms");
  });
});

describe("a client asks again", () => {
  it("what only reads, after as long as the server asks for", async () => {
    const away = problem(503, "store_unavailable");
    away.headers.set("retry-after", "3");
    const { client, slept } = clientOf([
      away,
      new TypeError("fetch failed"),
      json({ items: [], next: null }),
    ]);
    await client.dead.list();
    expect(slept).toHaveLength(2);
    expect(slept[0]).toBe(3000);
  });

  it("what it publishes under an id or a key, and under nothing else", async () => {
    const event = { type: "t", data: 1 };
    const named = clientOf([lost(), json({ id: "a", duplicate: true }, 202)]);
    await named.client.events.publish({ ...event, id: "a" });
    const keyed = clientOf([lost(), json([{ id: "a", duplicate: true }], 202)]);
    await keyed.client.events.publish([event], { idempotencyKey: "k" });
    expect(keyed.asked[1]?.init.headers).toMatchObject({ "idempotency-key": "k" });
    const unnamed = clientOf([lost(), json({})]);
    expect((await failureOf(unnamed.client.events.publish([{ ...event, id: "a" }, event]))).code).toBe(
      "api_unreachable",
    );
    expect(unnamed.asked).toHaveLength(1);
  });

  it("nothing that changes something", async () => {
    const { client, asked } = clientOf([problem(503, "store_unavailable"), json({})]);
    expect((await failureOf(client.redrive("dlv_1"))).code).toBe("api_unavailable");
    expect(asked).toHaveLength(1);
  });

  it("and stops at last, with the answer that it got", async () => {
    const { client, asked } = clientOf([1, 2, 3, 4].map(() => problem(503, "store_unavailable")));
    expect(problemOf(await failureOf(client.dead.list()))?.code).toBe("store_unavailable");
    expect(asked).toHaveLength(3);
  });
});

describe("a client cannot be made", () => {
  it.each([
    ["of no address", { url: "localhost:8710" }, "url"],
    ["with a password in the address", { url: "http://me:secret@localhost/" }, "user name"],
    ["with a token that is no header", { token: "phk_secret\n" }, "token"],
    ["without a token", { token: "" }, "token"],
    ["without time", { timeoutMs: 0 }, "timeoutMs"],
    ["with endless patience", { retries: 11 }, "retries"],
  ])("%s", (_what, options, named) => {
    const make = (): unknown => createClient({ url: "http://localhost/", token: "phk_1", ...options });
    expect(make).toThrow(expect.objectContaining({ code: "api_option_invalid" }) as Error);
    expect(make).toThrow(named);
    expect(make).not.toThrow(/secret/);
  });
});
