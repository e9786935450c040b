import { createDispatcher } from "posthorn/dispatch";
import { problemOf } from "posthorn/client";
import type { Client } from "posthorn/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
let client: Client;
beforeAll(async () => {
  bench = await apiBench();
  client = bench.client();
  await client.endpoints.create({ id: "ep_1", url: "https://example.com/", retry: { waitsMs: [3_600_000] } });
  for (const key of ["a", "b"]) {
    await client.events.publish([1, 2].map((n) => ({ type: "t", id: `${key}${n}`, key, data: n })));
  }
});
afterAll(closeBenches);

/** Delivers what is due, and everything comes to this. */
async function deliver(status: number): Promise<void> {
  const outcome =
    status < 300 ? ({ kind: "acknowledged", status } as const) : ({ kind: "refused", status } as const);
  bench.answer({ outcome, answer: new Uint8Array(), durationMs: 5 });
  const { outbox, egress, clock } = bench.parts;
  const dispatcher = createDispatcher({ store: outbox, egress, clock });
  await bench.clock.until(dispatcher.drain(), 5);
  await dispatcher.stop();
}

async function stateOf(event: string): Promise<string | undefined> {
  return (await client.deliveries.list({ event })).items[0]?.state;
}

it("after an outage everything of an endpoint is tried again at once, in the order of its lanes", async () => {
  await deliver(503);
  expect([await stateOf("a1"), await stateOf("b1")]).toEqual(["retrying", "retrying"]);
  expect(await client.endpoints.retry("ep_1")).toEqual({ retried: 2 });
  const before = bench.sent.length;
  await deliver(204);
  expect(await Promise.all(["a1", "a2", "b1", "b2"].map(stateOf))).toEqual(Array(4).fill("delivered"));
  const ids = bench.sent.slice(before).map(({ headers }) => new Headers(headers).get("webhook-id"));
  expect(ids.indexOf("a1")).toBeLessThan(ids.indexOf("a2"));
  expect(ids.indexOf("b1")).toBeLessThan(ids.indexOf("b2"));
});

it("a lane or one delivery is tried now, and what cannot be says why", async () => {
  await client.events.publish([3, 4].map((n) => ({ type: "t", id: `a${n}`, key: "a", data: n })));
  await deliver(503);
  const [lane] = (await client.lanes.list()).items;
  const { id = "", headId = "" } = lane ?? {};
  const [behind] = (await client.deliveries.list({ event: "a4" })).items;
  const refused = await client.deliveries.retry(behind?.id ?? "").catch(problemOf);
  expect(refused).toMatchObject({
    status: 409,
    detail: expect.stringContaining("Others of its lane are before it"),
  });
  expect(await client.deliveries.retry(headId)).toEqual({ retried: 1 });
  // Due already: the same call again changes nothing, and is no failure.
  expect(await client.lanes.retry(id)).toEqual({ retried: 0 });
  expect(await client.deliveries.retry(headId)).toEqual({ retried: 0 });
  await deliver(500);
  const dead = await client.deliveries.retry(headId).catch(problemOf);
  expect(dead).toMatchObject({ status: 409, detail: expect.stringContaining("Redrive it.") });
  const { items } = await client.audit.list({ limit: 10 });
  expect(items.map(({ action }) => action)).toEqual(expect.arrayContaining(["endpoint.retry", "lane.retry"]));
});

it("what is not there is a 404", async () => {
  for (const retry of [
    client.endpoints.retry("ep_none"),
    client.lanes.retry("99999"),
    client.lanes.retry("none"),
    client.deliveries.retry("dlv_9_9"),
  ]) {
    await expect(retry).rejects.toMatchObject({ code: "api_not_found" });
  }
});
