import { everyItem, problemOf } from "posthorn/client";
import type { EventInput } from "posthorn/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench();
});
afterAll(closeBenches);

const JSON_BODY = { "content-type": "application/json" };

async function publishBytes(data: string): Promise<unknown> {
  const text = `{"type":"t","id":"bytes","data":${data}}`;
  const answer = await bench.call("POST", "/api/v1/events", text, JSON_BODY);
  return answer.json<{ duplicate?: boolean; code?: string }>();
}

describe("a publication", () => {
  it("is answered with its id, and found again with its bytes", async () => {
    const { events } = bench.client();
    const { id, duplicate } = await events.publish({
      type: "order.paid",
      key: "order_7",
      data: { amount: 1999 },
      headers: { "x-trace": "abc" },
    });
    expect([id, duplicate]).toEqual([expect.stringMatching(/^evt_/), false]);
    expect(await events.get(id)).toMatchObject({
      id,
      tenant: "default",
      source: "app",
      type: "order.paid",
      key: "order_7",
      contentType: "application/json",
      headers: { "x-trace": "abc" },
      deliveries: [],
    });
    expect(JSON.parse(new TextDecoder().decode(await events.body(id)))).toMatchObject({
      data: { amount: 1999 },
    });
  });

  it("may be exact bytes, which come back only as a file", async () => {
    const { events } = bench.client();
    const html = "<script>alert(1)</script>";
    const { id } = await events.publish({
      type: "t",
      body: btoa(html),
      contentType: "text/html",
      id: 'evil"\r/<'.replace("\r", ""),
    });
    const answer = await bench.call("GET", `/api/v1/events/${encodeURIComponent(id)}/body`);
    expect(answer.body).toBe(html);
    expect(answer.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="evil___.bin"',
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    });
  });

  const exactly = [
    "12345678901234567891",
    "1.10",
    "-0",
    "1e400",
    '{"a":1,"a":2}',
    '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}',
    '{ "z" : 1,\n\t"a" : [ ] }',
    '"\\u0041\\ud800 \\/ é"',
    "null",
    '{"data":{"data":[{"data":"}],\\"data\\":1"}]}}',
    `${"[".repeat(512)}${"]".repeat(512)}`,
  ];

  it.each(exactly)("keeps the bytes of its data: %.60s", async (data) => {
    const answer = await bench.call(
      "POST",
      "/api/v1/events",
      `{"d\\u0061ta" : ${data} , "type":"exact"}`,
      JSON_BODY,
    );
    expect(answer.statusCode).toBe(202);
    const body = await bench.client().events.body(answer.json<{ id: string }>().id);
    expect(new TextDecoder().decode(body)).toMatch(/^\{"type":"exact","timestamp":"[^"]+","data":/);
    expect(new TextDecoder().decode(body).replace(/^.*?"data":/, "")).toBe(`${data}}`);
  });

  it("keeps the bytes of the data of every event of a batch, and of no other field", async () => {
    const events = exactly.map((data, n) => `{"type":"t","id":"batch-${n}","data":${data},"key":"data"}`);
    const text = `\ufeff [${events.join(",\n")}, {"type":"t","id":"batch-x","body":"${btoa("bytes")}"} ] `;
    const answer = await bench.call("POST", "/api/v1/events", text, JSON_BODY);
    expect(answer.statusCode).toBe(202);
    const bodies = await Promise.all(
      exactly.map((_, n) =>
        bench
          .client()
          .events.body(`batch-${n}`)
          .then((body) => new TextDecoder().decode(body)),
      ),
    );
    expect(bodies.map((body) => body.replace(/^.*?"data":/, ""))).toEqual(exactly.map((data) => `${data}}`));
    expect(new TextDecoder().decode(await bench.client().events.body("batch-x"))).toBe("bytes");
    expect(await bench.client().events.get("batch-0")).toMatchObject({ key: "data" });
  });

  it("with the same id is a duplicate only with the same bytes of data", async () => {
    expect(await publishBytes("10000000000000000001")).toMatchObject({ duplicate: false });
    expect(await publishBytes("10000000000000000001")).toMatchObject({ duplicate: true });
    expect(await publishBytes("10000000000000000002")).toMatchObject({ code: "conflict" });
  });

  it.each([
    ["request_invalid", "data", '{"type":"t","data":1,"data":2}'],
    ["request_invalid", "data", '{"type":"t","data":1,"d\\u0061ta":2}'],
    ["request_invalid", "1.type", '[{"type":"t","data":1},{"type":"t","type":"u","data":1}]'],
    ["request_invalid", "1", '[{"type":"t","data":1},7]'],
    ["request_invalid", "data", `{"type":"t","data":${"[".repeat(513)}"["${"]".repeat(513)}}`],
    ["json_malformed", undefined, '{"type":"t","data":01}'],
    ["json_malformed", undefined, '{"type":"t","data":{"a":1}'],
    ["json_malformed", undefined, '{"type":"t","data":"\u0007"}'],
    ["json_malformed", undefined, '{"type":"t","data":1,"headers":{"__proto__":{}}}'],
    ["json_malformed", undefined, Buffer.from('{"type":"t","data":"\xff"}', "latin1")],
    ["json_malformed", undefined, ""],
  ])("is refused as %s of %s: %s", async (code, field, text) => {
    const answer = await bench.call("POST", "/api/v1/events", text, JSON_BODY);
    expect(answer.json()).toMatchObject({ status: 400, code, ...(field !== undefined && { field }) });
  });

  it("under an id is sent once, at whatever moment it comes again", async () => {
    const { events } = bench.client();
    const event: EventInput = { type: "t", id: "once", data: { n: 1 } };
    expect(await events.publish(event)).toEqual({ id: "once", duplicate: false });
    await bench.clock.advance(60_000);
    expect(await events.publish(event)).toEqual({ id: "once", duplicate: true });
  });

  it("under an Idempotency-Key is sent once for each token, and each event of a batch for itself", async () => {
    const { events } = bench.client();
    const batch = [
      { type: "t", data: 1 },
      { type: "t", data: 1 },
      { type: "t", data: 1, id: "own" },
    ];
    const first = await events.publish(batch, { idempotencyKey: "key 1" });
    await bench.clock.advance(1000);
    const second = await events.publish(batch, { idempotencyKey: "key 1" });
    expect(first.map(({ id }) => id)).toEqual(second.map(({ id }) => id));
    expect(first.map(({ duplicate }) => duplicate)).toEqual([false, false, false]);
    expect(second.map(({ duplicate }) => duplicate)).toEqual([true, true, true]);
    expect(new Set(first.map(({ id }) => id)).size).toBe(3);
    expect(first[0]?.id).toMatch(/^idk_[\w-]{43}$/);
    const other = bench.client(await bench.token("full"));
    expect(await other.events.publish({ type: "t", data: 1 }, { idempotencyKey: "key 1" })).toMatchObject({
      duplicate: false,
    });
    await expect(events.publish({ type: "t", data: 2 }, { idempotencyKey: "key 1" })).rejects.toMatchObject({
      code: "api_conflict",
    });
  });

  it("that contradicts an earlier one is a conflict with the ids, and nothing of its batch is written", async () => {
    const { events } = bench.client();
    await events.publish({ type: "t", id: "known", data: 1 });
    const again = events.publish([
      { type: "t", id: "fresh", data: 1 },
      { type: "t", id: "known", data: 2 },
    ]);
    const error: unknown = await again.catch((thrown: unknown) => thrown);
    expect(problemOf(error)).toMatchObject({ status: 409, code: "conflict", ids: ["known"] });
    await expect(events.get("fresh")).rejects.toMatchObject({ code: "api_not_found" });
  });

  it.each<[string, unknown, string]>([
    ["type", {}, "missing"],
    ["type", { type: "" }, "is empty"],
    ["data", { type: "t" }, "either `data` or `body`"],
    ["body", { type: "t", body: "not base64!" }, "not base64"],
    [
      "1.body",
      [
        { type: "t", data: 1 },
        { type: "t", body: "=" },
      ],
      "not base64",
    ],
    ["id", { type: "t", data: 1, id: "a.b" }, "full stop"],
    ["time", { type: "t", data: 1, time: "yesterday" }, "date-time"],
    ["1.typ", [{ type: "t", data: 1 }, { typ: "t" }], "Is type meant?"],
    [
      "2.key",
      [
        { type: "t", data: 1 },
        { type: "t", data: 1 },
        { type: "t", data: 1, key: 7 },
      ],
      "string",
    ],
    ["body", [], "is empty"],
    ["body", 7, "object"],
    ["headers", { type: "t", data: 1, headers: { "webhook-id": "x" } }, "webhook-id"],
    ["key", { type: "t", data: 1, key: "a\0b" }, "control character"],
  ])("is refused with its field %s: %j", async (field, body, told) => {
    const answer = await bench.call("POST", "/api/v1/events", JSON.stringify(body), {
      "content-type": "application/json",
    });
    expect([answer.statusCode, answer.json().code]).toEqual([400, "request_invalid"]);
    expect(answer.json().detail).toContain(told);
    expect(answer.json().field).toBe(field);
  });

  it("of more than a thousand events, or under a key that is no header, is refused", async () => {
    const { events } = bench.client();
    const many = Array.from({ length: 1001 }, () => ({ type: "t", data: 1 }));
    await expect(events.publish(many)).rejects.toMatchObject({ code: "api_refused" });
    const odd = await bench.call("POST", "/api/v1/events", { type: "t", data: 1 }, { "idempotency-key": "" });
    expect(odd.json()).toMatchObject({ field: "idempotency-key" });
  });

  it("of JSON that is deeper than a stack is refused, and the server goes on", async () => {
    const deep = `{"type":"t","data":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    const answer = await bench.call("POST", "/api/v1/events", deep, { "content-type": "application/json" });
    expect(answer.statusCode).toBe(400);
    expect((await bench.call("GET", "/healthz")).statusCode).toBe(200);
  });
});

const named = (n: number): EventInput => ({
  type: n % 2 === 0 ? "even" : "odd",
  source: "search",
  tenant: "finder",
  key: `k${n % 3}`,
  id: `found_${n}`,
  data: n,
});

describe("events", () => {
  it("are found by what they are, newest first, page by page", async () => {
    const { events } = bench.client();
    await events.publish([0, 1, 2, 3, 4, 5].map(named));
    const ids = async (query: object): Promise<string[]> => {
      const found: string[] = [];
      for await (const { id } of everyItem((page) => events.list({ tenant: "finder", ...query, ...page }), {
        limit: 2,
      }))
        found.push(id);
      return found;
    };
    expect(await ids({})).toEqual([5, 4, 3, 2, 1, 0].map((n) => `found_${n}`));
    expect(await ids({ type: "even" })).toEqual(["found_4", "found_2", "found_0"]);
    expect(await ids({ key: "k1" })).toEqual(["found_4", "found_1"]);
    expect(await ids({ source: "other" })).toEqual([]);
    expect(await events.get("found_1", { tenant: "finder" })).toMatchObject({ id: "found_1" });
    expect(await events.get("found_1")).toMatchObject({ tenant: "finder" });
  });
});

describe("an event that is asked for without its tenant", () => {
  it("is found at whichever tenant has it, and asked about where several have", async () => {
    const { events, deliveries } = bench.client();
    await events.publish({ type: "t", id: "only-acme", tenant: "acme", data: "acme" });
    expect(await events.get("only-acme")).toMatchObject({ tenant: "acme" });
    expect(new TextDecoder().decode(await events.body("only-acme"))).toContain('"acme"');
    expect((await deliveries.list({ event: "only-acme" })).items).toEqual([]);
    await events.publish({ type: "t", id: "both", tenant: "acme", data: 1 });
    await events.publish({ type: "t", id: "both", data: 2 });
    for (const call of [events.get("both"), events.body("both"), deliveries.list({ event: "both" })]) {
      await expect(call).rejects.toMatchObject({
        message: '2 tenants have an event "both": "acme", "default". Name one of them as `tenant`.',
        detail: { field: "tenant" },
      });
    }
    expect(await events.get("both", { tenant: "acme" })).toMatchObject({ tenant: "acme" });
    await expect(events.get("only-acme", { tenant: "default" })).rejects.toMatchObject({
      code: "api_not_found",
    });
    await expect(deliveries.list({ event: "nobody-has" })).rejects.toMatchObject({ code: "api_not_found" });
  });
});

it.each(["type", "source"])(
  "a pattern as the filter %s is refused: it would find nothing, without a word",
  async (field) => {
    const call = bench.client().events.list({ [field]: "order.*" });
    await expect(call).rejects.toMatchObject({ detail: { field, code: "request_invalid" } });
  },
);
