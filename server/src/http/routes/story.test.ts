import { createDispatcher } from "posthorn/dispatch";
import type { Client } from "posthorn/client";
import { newId } from "posthorn/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";
import { inboxBench } from "../../../../test/server/inbox-bench.js";

let bench: ApiBench;
let client: Client;
let eventId: string;

async function deliver(status: number): Promise<void> {
  bench.answer({
    outcome: status < 300 ? { kind: "acknowledged", status } : { kind: "refused", status },
    answer: new TextEncoder().encode("db is down"),
    durationMs: 15,
  });
  const { outbox, egress, clock } = bench.parts;
  const dispatcher = createDispatcher({ store: outbox, egress, clock });
  await bench.clock.until(dispatcher.drain(), 5);
  await dispatcher.stop();
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

beforeAll(async () => {
  bench = await apiBench();
  client = bench.client();
  const { outbox, clock } = bench.parts;
  await client.sources.create({
    name: "shop",
    scheme: "none",
    allowUnverified: true,
    key: { json: "/customer" },
  });
  await client.endpoints.create({ id: "ep_1", url: "https://example.com/", retry: { waitsMs: [1000] } });
  eventId = newId("evt", clock.now());
  const event = {
    id: eventId,
    idGiven: false,
    tenant: "default",
    source: "shop",
    type: "order.paid",
    key: "cus_9",
    body: bytes("first"),
    contentHash: undefined,
    contentType: "text/plain",
    time: new Date(clock.now()),
    deliverAt: undefined,
    expiresAt: undefined,
    origin: { providerId: "in_77", verifiedBy: "key 1" },
  };
  await outbox.ingest({ event, names: [{ name: "shop/id/in_77", bodyHash: undefined }], windowS: 3600 });
  const repeat = {
    tenant: "default",
    eventId,
    receivedAt: new Date(clock.now() + 500),
    headers: { "x-shop": "<b>" },
    windowS: 3600,
  };
  await outbox.recordRepeats([
    { ...repeat, kind: "conflict", body: bytes("other"), bodyHash: new Uint8Array(32).fill(1) },
    { ...repeat, kind: "duplicate", body: bytes("first"), bodyHash: new Uint8Array(32).fill(2) },
  ]);
  await client.events.publish(
    [2, 3, 4, 5].map((n) => ({ type: "order.paid", id: `e${n}`, key: "cus_9", data: n })),
  );
  await deliver(500);
  await bench.clock.advance(2000);
  await deliver(500);
});
afterAll(closeBenches);

describe("the story of an event", () => {
  it("tells who sent it, its duplicates and conflicts with their bytes, every attempt and how it ended", async () => {
    const story = await client.story(eventId);
    expect(story.foundBy).toBe("event_id");
    expect(story.event).toMatchObject({
      direction: "in",
      providerId: "in_77",
      verifiedBy: "key 1",
      key: "cus_9",
    });
    expect(
      story.repeats.map(({ kind, receipts, body, bodyBytes }) => [kind, receipts, body, bodyBytes]),
    ).toEqual([
      ["conflict", 1, btoa("other"), 5],
      ["duplicate", 1, null, 5],
    ]);
    const [delivery] = story.deliveries;
    expect(delivery).toMatchObject({ endpointId: "ep_1", state: "dead", because: "exhausted" });
    expect(delivery?.tried.map(({ number, status }) => [number, status])).toEqual([
      [1, 500],
      [2, 500],
    ]);
    expect(delivery?.tried[0]?.sent).toMatchObject({
      url: "https://example.com/",
      fingerprint: "status 500",
      headers: { "webhook-id": eventId },
    });
    expect(delivery?.ends).toMatchObject([
      { round: 1, how: "dead", because: "exhausted", resolvedHow: null },
    ]);
    expect(delivery?.sentence).toContain("given up");
    expect(story.steps.map(({ kind }) => kind)).toEqual([
      "received",
      "verified",
      "stored",
      "placed",
      "attempt",
      "conflict",
      "duplicate",
      "attempt",
      "dead",
    ]);
    expect(story.steps.at(-2)).toMatchObject({
      text: "attempt 2 at ep_1: 500 in 15 ms",
      status: 500,
      attempt: 2,
    });
    expect(story.steps.every(({ future }) => !future)).toBe(true);
  });

  it("is found by the provider's id and by a delivery's id, and by nothing that is none", async () => {
    const own = await client.story(eventId);
    expect(await client.story("in_77")).toEqual({ ...own, foundBy: "provider_id" });
    const { id = "" } = own.deliveries[0] ?? {};
    expect(await client.story(id)).toMatchObject({ foundBy: "delivery_id", event: { id: eventId } });
    await expect(client.story("in_78")).rejects.toMatchObject({ code: "api_not_found" });
    await expect(client.story(eventId, { tenant: "acme" })).rejects.toMatchObject({ code: "api_not_found" });
  });

  it("is found without naming the tenant, and refused where several have the id", async () => {
    for (const tenant of ["acme", "zeta"])
      await client.events.publish({ type: "t", id: "both", tenant, data: 1 });
    await client.events.publish({ type: "t", id: "hers", tenant: "acme", data: 1 });
    expect((await client.story("hers")).event).toMatchObject({ id: "hers", tenant: "acme" });
    expect((await client.search("hers")).items).toMatchObject([{ kind: "event", tenant: "acme" }]);
    await expect(client.story("both")).rejects.toThrow('2 tenants have an event "both": "acme", "zeta"');
    expect((await client.search("both")).items.map(({ tenant }) => String(tenant)).toSorted()).toEqual([
      "acme",
      "zeta",
    ]);
  });

  it("shows what is still to come as future steps: what waits behind others says so", async () => {
    const { steps } = await client.story("e3");
    expect(steps.at(-1)).toMatchObject({ kind: "waiting", future: true, endpointId: "ep_1" });
  });
});

describe("a lane's queue", () => {
  it("shows both ends, how many stand between them, and why it stands", async () => {
    const [lane] = (await client.lanes.list()).items;
    const { id = "" } = lane ?? {};
    const waiting = await client.lanes.waiting(id, { first: 2, last: 1 });
    expect(waiting.sentence).toBe(
      "It stopped because #1 was given up after 2 attempts (500). 4 later events of cus_9 wait, in order.",
    );
    expect(waiting.first.map(({ eventId: each, state }) => [each, state])).toEqual([
      [eventId, "dead"],
      ["e2", "waiting"],
    ]);
    expect(waiting.last.map(({ eventId: each }) => each)).toEqual(["e5"]);
    expect(waiting.between).toBe("2");
    expect(waiting.before).toEqual([]);
    const all = await client.lanes.waiting(id, { first: 100, last: 100 });
    expect([all.first.length, all.last.length, all.between]).toEqual([5, 0, "0"]);
    await expect(client.lanes.waiting("999")).rejects.toMatchObject({ code: "api_not_found" });
    await expect(client.lanes.waiting(id, { first: 101 })).rejects.toMatchObject({ code: "api_refused" });
  });
});

describe("the status", () => {
  it("says in one sentence what is wrong, and lists what needs a person", async () => {
    await bench.parts.registry.recordNode({
      name: "node-1",
      roles: ["api", "ingest", "dispatch"],
      version: "1",
      startedAt: new Date(bench.clock.now()),
    });
    const status = await client.status();
    expect(status.sentence).toMatch(/^1 lane is halted; 4 events wait behind it\./);
    expect(status.ok).toBe(false);
    expect(status.needs).toMatchObject([{ kind: "lane_halted", endpointId: "ep_1", key: "cus_9" }]);
    expect(status.endpoints).toMatchObject([{ id: "ep_1", state: "halted", waiting: 5 }]);
    expect(status.sources).toMatchObject([{ name: "shop", state: "new" }]);
    expect(status.nodes).toMatchObject([{ name: "node-1" }]);
    expect(status.counts).toMatchObject({ haltedLanes: 1, blockedDeliveries: 5, dead: 1, exact: true });
  });
});

describe("a search", () => {
  it.each<[string, () => string, string, string]>([
    ["an event's id", () => eventId, "event", "id"],
    ["a header line", () => `webhook-id: ${eventId}`, "event", "id"],
    [
      "a whole curl",
      () => `curl -H "authorization: x" http://127.0.0.1/api/v1/events/${eventId}`,
      "event",
      "id",
    ],
    ["a provider's id", () => "in_77", "event", "provider_id"],
    ["the beginning of an id", () => eventId.slice(0, 16), "event", "id_prefix"],
    ["an endpoint", () => "ep_1", "endpoint", "id"],
    ["a source", () => "shop", "source", "id"],
  ])("finds %s", async (_what, text, kind, foundBy) => {
    const { items } = await client.search(text());
    expect(items.find((each) => each.kind === kind)).toMatchObject({ kind, foundBy });
  });

  it("finds a delivery with its event, and nothing where there is none", async () => {
    const { id = "" } = (await client.story(eventId)).deliveries[0] ?? {};
    expect((await client.search(id)).items.map(({ kind }) => kind).toSorted()).toEqual(["delivery", "event"]);
    expect((await client.search("nothing of ours")).items).toEqual([]);
  });
});

describe("the story of an event that a handler has applied after a redrive", () => {
  it("ends with the attempt that applied it, and does not call its delivery dead", async () => {
    const inbox = await inboxBench();
    await inbox.post("in_1");
    await inbox.work({ in_1: new Error("down") });
    const calls = inbox.client();
    const [dead] = (await calls.dead.list()).items;
    await calls.redrive(dead?.id ?? "");
    await inbox.clock.advance(1000);
    await inbox.work();
    expect(inbox.effects).toEqual(["billing in_1"]);
    const { deliveries, steps } = await calls.story(dead?.eventId ?? "");
    expect(deliveries).toMatchObject([{ state: "delivered", round: 2, sentence: "Its handler applied it." }]);
    expect(steps.at(-1)).toMatchObject({
      kind: "delivered",
      round: 2,
      outcome: "acknowledged",
      future: false,
    });
  });
});

// Last: it stops the endpoints of all the others.
describe("the story at a stopped endpoint", () => {
  it("says of what waits for a stopped endpoint that it does, and not that it is tried again", async () => {
    await client.endpoints.create({ id: "ep_2", url: "https://example.com/2", types: ["stopped"] });
    await client.events.publish({ type: "stopped", id: "held", data: 1 });
    await deliver(410);
    const { steps, deliveries } = await client.story("held");
    const own = deliveries.find(({ endpointId }) => endpointId === "ep_2");
    expect(own?.sentence).toMatch(/It waits, because its endpoint is disabled\.$/);
    expect(steps.at(-1)).toMatchObject({ text: "waits for its endpoint: ep_2 is disabled", future: true });
  });
});
