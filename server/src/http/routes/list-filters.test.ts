import { problemOf } from "posthorn/client";
import { newId } from "posthorn/gateway";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

const rejectedAt = (minute: number) => {
  const at = Date.UTC(2026, 10, 16, 0, minute);
  return {
    id: newId("rej", at),
    source: "stripe",
    receivedAt: new Date(at),
    method: "POST",
    headers: {},
    body: new Uint8Array(),
    whole: undefined,
    bodyBytes: 0,
    code: `minute_${minute}`,
    message: "",
    diagnosis: [],
  };
};

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench({ settings: { firstToken: "phk_secret_of_the_start" } });
  const { events } = bench.client();
  for (const id of ["ord_1", "ord_2", "inv_1"]) {
    await events.publish({ type: "t", id, data: 1 });
    await bench.clock.advance(60_000);
  }
  await bench.parts.registry.recordRejected([0, 1, 2].map(rejectedAt), 10);
});
afterAll(closeBenches);

it("events are found by when they were stored", async () => {
  const { events } = bench.client();
  const ids = async (query: object) => (await events.list(query)).items.map(({ id }) => id);
  expect(await ids({ since: "2026-11-16T00:01:00Z" })).toEqual(["inv_1", "ord_2"]);
  expect(await ids({ since: "2026-11-16T00:00:30Z", until: "2026-11-16T00:01:30Z" })).toEqual(["ord_2"]);
  expect(await ids({ since: "90s" })).toEqual(["inv_1"]);
});

it("events are found by the beginning of their id", async () => {
  const { items } = await bench.client().events.list({ id: "ord_" });
  expect(items.map(({ id }) => id)).toEqual(["ord_2", "ord_1"]);
});

it("rejected requests are found by when they came", async () => {
  const { rejected } = bench.client();
  const codes = async (query: object) => (await rejected.list(query)).items.map(({ code }) => code);
  expect(await codes({ since: "2026-11-16T00:01:00Z" })).toEqual(["minute_2", "minute_1"]);
  expect(await codes({ until: "2026-11-16T00:02:00Z" })).toEqual(["minute_1", "minute_0"]);
  expect(await codes({ source: "github", since: "1h" })).toEqual([]);
});

it.each([
  ["events?state=dead", "state", "/dead lists what was given up"],
  ["events?id=ord_&type=t", "type", "leave one of them out"],
  ["deliveries?endpoint=ep_shop", "endpoint", "/dead lists what was given up"],
  ["deliveries?state=dead", "state", "/lanes"],
  ["deliveries", "event", "Deliveries are listed by `event`"],
  ["dead?type=t", "type", "no index has it"],
  ["dead?key=k", "key", "`key` needs `endpoint`"],
  ["audit?actor=a&kind=b", "action", "each has an index"],
])("a filter that no index serves is refused with the reason: %s", async (path, field, says) => {
  const answer = await bench.call("GET", `/api/v1/${path}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: "request_invalid", field });
  expect(answer.json<{ detail: string }>().detail).toContain(says);
});

it("the settings in force are told with where they are from, and no secret among them", async () => {
  const { node, items } = await bench.client().settings();
  expect(node).toBe("node-1");
  expect(items.find(({ key }) => key === "max_body_bytes" || key === "max_body")).toBeDefined();
  expect(items.find(({ key }) => key === "first_token")?.value).toBe('"[redacted]"');
  expect(JSON.stringify(items)).not.toContain("phk_secret");
});

it("a status that was asked for before a change is not shown after it", async () => {
  const client = bench.client();
  expect((await client.status()).endpoints).toEqual([]);
  await client.endpoints.create({ id: "ep_new", url: "https://example.com/hooks" });
  expect((await client.status()).endpoints.map(({ id }) => id)).toEqual(["ep_new"]);
  const refused = await client.endpoints.create({ id: "ep_new", url: "x" }).catch((error: unknown) => error);
  expect(problemOf(refused)).toBeDefined();
});
