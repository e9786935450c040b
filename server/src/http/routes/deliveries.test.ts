import { createDispatcher } from "posthorn/dispatch";
import { problemOf } from "posthorn/client";
import type { Client } from "posthorn/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import { inboxBench } from "../../../../test/server/inbox-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
let client: Client;
beforeAll(async () => {
  bench = await apiBench();
  client = bench.client();
  await client.endpoints.create({ id: "ep_1", url: "https://example.com/", retry: { waitsMs: [1000] } });
  await client.events.publish([1, 2].map((n) => ({ type: "t", id: `e${n}`, key: "k", data: n })));
  await client.events.publish({ type: "t", id: "loose", data: 0 });
});
afterAll(closeBenches);

/** Delivers what is due, and everything comes to this. */
async function deliver(status: number, on: ApiBench = bench): Promise<void> {
  on.answer({
    outcome: status < 300 ? { kind: "acknowledged", status } : { kind: "refused", status },
    answer: new TextEncoder().encode(`says ${status}`),
    durationMs: 5,
  });
  const { outbox, egress, clock } = on.parts;
  const dispatcher = createDispatcher({ store: outbox, egress, clock });
  await on.clock.until(dispatcher.drain(), 5);
  await dispatcher.stop();
}

describe("what became of an event", () => {
  it("is told of each of its deliveries, with its attempts, until it is dead and redriven", async () => {
    await deliver(500);
    const [delivery] = (await client.deliveries.list({ event: "e1" })).items;
    expect(delivery).toMatchObject({
      eventId: "e1",
      endpointId: "ep_1",
      key: "k",
      state: "retrying",
      lastStatus: 500,
    });
    const { id = "" } = delivery ?? {};
    expect(await client.deliveries.get(id)).toEqual(delivery);
    expect((await client.events.get("e1")).deliveries).toEqual([delivery]);
    const lanes = (await client.lanes.list()).items;
    expect(lanes).toMatchObject([
      { state: "retrying", endpointId: "ep_1", key: "k", depth: "2", headId: id },
    ]);

    await bench.clock.advance(2000);
    await deliver(500);
    expect(await client.deliveries.get(id)).toMatchObject({
      state: "dead",
      because: "exhausted",
      attempts: 2,
    });
    const attempts = (await client.deliveries.attempts(id)).items;
    expect(attempts).toMatchObject([
      { round: 1, number: 1, outcome: "refused", status: 500, answer: btoa("says 500") },
      { round: 1, number: 2 },
    ]);
    const letter = (await client.dead.list()).items.find((each) => each.id === id);
    expect(letter).toMatchObject({ eventId: "e1", because: "exhausted", blocks: true, lastStatus: 500 });
    expect((await client.lanes.list()).items).toMatchObject([{ state: "halted" }]);

    expect(await client.redrive(id)).toEqual({ result: "in_place" });
    await expect(client.redrive(id)).rejects.toMatchObject({ code: "api_conflict" });
    await deliver(204);
    expect(await client.deliveries.get(id)).toMatchObject({ state: "delivered", round: 2 });
    expect((await client.lanes.list()).items).toEqual([]);
  });

  it("is told to whoever skips the head of a lane", async () => {
    await client.endpoints.pause("ep_1");
    await client.events.publish([3, 4].map((n) => ({ type: "t", id: `e${n}`, key: "k", data: n })));
    while ((await bench.parts.outbox.sequence()).more);
    const [lane] = (await client.lanes.list({ endpoint: "ep_1" })).items;
    expect(lane).toMatchObject({ state: "paused", depth: "2" });
    const { id = "", head = "" } = lane ?? {};
    expect(await client.lanes.get(id)).toMatchObject({ id, head, depth: "2" });
    expect(await client.lanes.skip(id, head)).toEqual({ result: "skipped" });
    const next = await client.lanes.get(id);
    expect(next).toMatchObject({ depth: "1" });
    const again = await client.lanes.skip(id, head).catch((error: unknown) => error);
    expect(problemOf(again)).toMatchObject({ status: 409, code: "lane_moved", head: next.head });
    expect(await client.lanes.get(id)).toEqual(next);
    expect((await client.deliveries.list({ event: "e3" })).items).toMatchObject([{ state: "cancelled" }]);
    expect((await client.lanes.list({ endpoint: "other" })).items).toEqual([]);
  });

  it.each<[string, (api: Client) => Promise<unknown>]>([
    ["an event", (api) => api.deliveries.list({ event: "nothing" })],
    ["a delivery", (api) => api.deliveries.get("dlv_999")],
    ["a delivery's name", (api) => api.deliveries.get("seven")],
    ["attempts", (api) => api.deliveries.attempts("dlv_999")],
    ["a dead delivery", (api) => api.redrive("dlv_999_1")],
    ["a lane", (api) => api.lanes.get("999999")],
    ["a lane's number", (api) => api.lanes.skip("one", "1")],
    ["a lane to skip", (api) => api.lanes.skip("999999", "1")],
  ])("cannot be told where there is none: %s", async (_what, call) => {
    await expect(call(client)).rejects.toMatchObject({ code: "api_not_found" });
  });

  it.each<[string, string]>([
    ["not a number", "seven"],
    ["below nothing", "-1"],
    ["missing", undefined as never],
  ])("is not asked of a lane whose head to skip is %s", async (_what, head) => {
    const refused = await client.lanes.skip("1", head).catch((error: unknown) => error);
    expect(problemOf(refused)).toMatchObject({ status: 400, code: "request_invalid", field: "head" });
  });
});

it("a delivery that is not dead is not redriven, and is said to be there", async () => {
  const node = await apiBench();
  await node.client().endpoints.create({ id: "ep_1", url: "https://example.com/" });
  await node.client().events.publish({ type: "t", id: "e1", data: 1 });
  const [delivery] = (await node.client().deliveries.list({ event: "e1" })).items;
  await expect(node.client().redrive(delivery?.id ?? "")).rejects.toMatchObject({
    code: "api_conflict",
    message: `The delivery "${delivery?.id}" is waiting; only a dead one is redriven. It is sent when its turn comes.`,
  });
  await expect(node.client().redrive("dlv_99_99")).rejects.toMatchObject({ code: "api_not_found" });
});

describe("what was cancelled at a handler", () => {
  it("is redriven, the dead head of its lane too, and a second time it is said that it was", async () => {
    const inbox = await inboxBench();
    const api = inbox.client();
    for (const id of ["in_1", "in_2"]) await inbox.post(id);
    await inbox.work({ in_1: new Error("down") });
    const ids = await Promise.all(
      ["in_1", "in_2"].map(async (id) => (await api.inbox.get(`shop/${id}`)).deliveries[0]?.id ?? ""),
    );
    const [lane] = (await api.lanes.list()).items;
    const { outbox } = inbox.parts;
    await outbox.cancel(BigInt(lane?.id ?? 0), BigInt(lane?.head ?? 0) + 1n);
    for (const id of ids) expect(await api.redrive(id)).toEqual({ result: "at_end" });
    for (const [id, state] of [
      [ids[0] ?? "", "dead"],
      [ids[1] ?? "", "cancelled"],
    ] as const)
      await expect(api.redrive(id)).rejects.toMatchObject({
        message: `The delivery "${id}" is ${state}, and was not redriven. It was redriven before, and has another place by now.`,
      });
    await inbox.work();
    expect(inbox.effects).toEqual(["billing in_1", "billing in_2"]);
  });

  it.each([
    ["its event is gone", true, "Its event is not stored any more."],
    ["somebody else was faster", false, "It has changed between two looks. Try again."],
  ])("says why it was not redriven where %s", async (_why, isGone, words) => {
    const inbox = await inboxBench();
    const api = inbox.client();
    await inbox.post("in_1");
    await inbox.work({ in_1: new Error("down") });
    const [delivery] = (await api.inbox.get("shop/in_1")).deliveries;
    const { operator, outbox } = inbox.parts;
    Object.assign(operator, { redrive: () => Promise.resolve("unknown") });
    if (isGone) Object.assign(outbox, { event: () => Promise.resolve(undefined) });
    await expect(api.redrive(delivery?.id ?? "")).rejects.toMatchObject({
      message: `The delivery "${delivery?.id}" is dead, and was not redriven. ${words}`,
    });
  });
});

it("the dead letter of an endpoint that was cancelled with its lane is not redriven, and is said to be so", async () => {
  const node = await apiBench();
  const api = node.client();
  await api.endpoints.create({ id: "ep_1", url: "https://example.com/", retry: { waitsMs: [] } });
  await api.events.publish({ type: "t", id: "e1", key: "k", data: 1 });
  await deliver(500, node);
  const [lane] = (await api.lanes.list()).items;
  await node.parts.outbox.cancel(BigInt(lane?.id ?? 0), BigInt(lane?.head ?? 0));
  const [delivery] = (await api.deliveries.list({ event: "e1" })).items;
  await expect(api.redrive(delivery?.id ?? "")).rejects.toMatchObject({
    message: `The delivery "${delivery?.id}" is dead, and was not redriven. It was cancelled with what waited in its lane, or its endpoint was removed. Publish the event again if it is still wanted.`,
  });
});
