import { afterAll, describe, expect, it } from "vitest";
import { closeBenches } from "../../../../test/server/api-bench.js";
import { inboxBench } from "../../../../test/server/inbox-bench.js";

afterAll(closeBenches);

describe("the inbox", () => {
  it("lists what each consumer made of an event, by every filter and by the beginning of ids", async () => {
    const bench = await inboxBench();
    expect(await bench.post("in_1")).toBe("stored");
    await bench.work({}, ["billing", "crm"]);
    await bench.clock.advance(1000);
    await bench.post("in_2", { type: "order.lost", order: "2" });
    await bench.work({}, ["billing", "crm"]);
    const { inbox } = bench.client();
    const ids = async (query: Parameters<typeof inbox.list>[0]) =>
      (await inbox.list(query)).items.map(({ eventId, consumerId }) => `${eventId} ${consumerId}`);
    expect(await ids({ outcome: "success" })).toEqual(["in_1 hnd_crm", "in_1 hnd_billing"]);
    expect(await ids({ outcome: "skipped", consumer: "crm" })).toEqual(["in_2 hnd_crm"]);
    expect(await ids({ type: "order.lost", consumer: "hnd_billing" })).toEqual(["in_2 hnd_billing"]);
    expect(await ids({ source: "shop", id: "in_1" })).toEqual(["in_1 hnd_billing", "in_1 hnd_crm"]);
    expect(await ids({ tenant: "acme" })).toEqual([]);
    const first = await inbox.list({ limit: 3 });
    expect((await inbox.list({ limit: 3, after: first.next ?? "" })).items).toHaveLength(1);
    const { deliveries } = await inbox.get("shop/in_1");
    expect(deliveries.map(({ state, round }) => `${state} ${round}`)).toEqual(["delivered 1", "delivered 1"]);
    expect((await bench.call("GET", "/api/v1/inbox?id=in_1")).json()).toMatchObject({ field: "source" });
    expect((await bench.call("GET", "/api/v1/inbox?after=zz")).statusCode).toBe(400);
  });

  it("shows one event with its result, its failures and their fingerprints, its deliveries and conflicts", async () => {
    const bench = await inboxBench();
    await bench.post("in_1");
    expect(await bench.post("in_1", { amount: 2 })).toBe("conflict");
    await bench.work({ in_1: new RangeError("no such customer") });
    const dead = await bench.client().inbox.get("shop/in_1");
    expect(dead).toMatchObject({
      rows: [],
      failures: [
        {
          consumerId: "hnd_billing",
          outcome: "failed",
          error: expect.stringContaining("no such customer") as string,
        },
      ],
      deliveries: [{ endpointId: "hnd_billing", state: "dead" }],
      refused: [{ because: "conflict", receipts: 1 }],
    });
    expect(dead.failures[0]?.fingerprint).toMatch(/^RangeError .*inbox\.test\.ts/);
    expect(await bench.client().inbox.refused({ because: "conflict" })).toMatchObject({
      items: dead.refused,
    });
    await bench.client().redrive(dead.deliveries[0]?.id ?? "");
    await bench.work();
    const shown = await bench.client().inbox.get("shop/in_1");
    expect(shown.rows).toMatchObject([{ outcome: "success", result: '{"by":"billing"}', round: 1 }]);
    await expect(bench.client().inbox.get("shop/in_9")).rejects.toMatchObject({ code: "api_not_found" });
    expect((await bench.call("GET", "/api/v1/inbox/in_9")).statusCode).toBe(400);
  });
});

describe("consumers", () => {
  it("say what waits and what is dead, and status names one without a worker", async () => {
    const bench = await inboxBench();
    await bench.post("in_1");
    await bench.post("in_2");
    await bench.work({ in_1: new Error("down") });
    const [billing] = (await bench.client().consumers.list()).items;
    expect(billing).toMatchObject({
      id: "hnd_billing",
      hasWorker: true,
      waiting: 2,
      dead: 1,
      haltedLanes: 1,
      sources: ["*"],
    });
    expect(billing?.versions[0]?.types).toEqual(["order.paid"]);
    await bench.clock.advance(600_000);
    const status = await bench.client().status();
    expect(status.consumers).toMatchObject([{ id: "hnd_billing", hasWorker: false }]);
    expect(status.needs).toContainEqual(
      expect.objectContaining({ kind: "no_worker", endpointId: "hnd_billing", level: "bad", count: 2 }),
    );
    expect(status.needs.map(({ kind }) => kind)).not.toContain("no_dispatcher");
  });

  it("are paused and resumed by a person, which is written down with who and why", async () => {
    const bench = await inboxBench();
    await bench.work();
    await bench.post("in_1");
    const client = bench.client();
    const paused = await client.consumers.pause("hnd_billing", {
      forMs: 3_600_000,
      note: "the bank is down",
    });
    expect(paused).toMatchObject({
      id: "hnd_billing",
      state: "paused",
      because: "the bank is down",
      pausedUntil: new Date(bench.clock.now() + 3_600_000).toISOString(),
    });
    expect(paused.pausedBy).toBeTypeOf("string");
    await bench.work();
    expect(bench.effects).toEqual([]);
    const status = await client.status();
    expect(status.needs).toMatchObject([
      { kind: "consumer_paused", level: "note", endpointId: "hnd_billing", count: 1 },
    ]);
    expect(status.needs[0]?.text).toMatch(
      /^paused: hnd_billing by .+ until .+ \(the bank is down\); 1 event waits$/,
    );
    const [event] = (await client.events.list()).items;
    expect((await client.story(event?.id ?? "")).steps.at(-1)?.text).toBe(
      "waits for its handler: hnd_billing is paused",
    );
    await expect(client.consumers.pause("hnd_billing", { forMs: 1000 })).rejects.toMatchObject({
      detail: { code: "conflict" },
    });
    const audited = (await client.audit.list({ action: "consumer.pause" })).items;
    expect(audited.find(({ status: answer }) => answer === 200)).toMatchObject({
      note: "the bank is down",
      before: { state: "active" },
      after: { state: "paused" },
    });
    expect(await client.consumers.resume("hnd_billing")).toMatchObject({ state: "active", pausedBy: null });
    await bench.work();
    expect(bench.effects).toEqual(["billing in_1"]);
    await expect(client.consumers.pause("hnd_none")).rejects.toMatchObject({ code: "api_not_found" });
    await expect(client.consumers.resume("hnd_none")).rejects.toMatchObject({ code: "api_not_found" });
  });

  it("are removed by a person once no worker has them, which is written down with who and why", async () => {
    const bench = await inboxBench();
    await bench.work({}, ["billing", "invoicing"]);
    await bench.post("in_1");
    await bench.work({}, ["invoicing"]);
    const client = bench.client();
    const sure = { note: "it is called invoicing now", cancelWaiting: true };
    await expect(client.consumers.remove("hnd_billing", sure)).rejects.toMatchObject({
      detail: { code: "conflict", detail: expect.stringContaining("stop its workers, or deploy") as string },
    });
    await bench.clock.advance(200_000);
    await expect(client.consumers.remove("hnd_billing")).rejects.toMatchObject({
      detail: { code: "conflict", detail: expect.stringContaining("that wait for it: 1") as string },
    });
    const [event] = (await client.events.list()).items;
    await bench.clock.advance(1000);
    const removed = await client.consumers.remove("hnd_billing", sure);
    expect(removed).toEqual({ id: "hnd_billing", waiting: 1, exact: true });
    expect((await client.consumers.list()).items.map(({ id }) => id)).toEqual(["hnd_invoicing"]);
    const audited = (await client.audit.list({ action: "consumer.remove" })).items;
    expect(audited.map(({ status }) => status)).toEqual([200, 409, 409]);
    expect(audited[0]).toMatchObject({
      note: "it is called invoicing now",
      subject: { kind: "consumer", id: "hnd_billing" },
      before: { waiting: 1 },
      after: null,
    });
    const { deliveries } = await client.events.get(event?.id ?? "");
    expect(deliveries).toContainEqual(
      expect.objectContaining({
        endpointId: "hnd_billing",
        state: "cancelled",
        because: "consumer_removed",
      }),
    );
    expect((await client.status()).needs.map(({ endpointId }) => endpointId)).toEqual(["hnd_invoicing"]);
    await expect(client.consumers.remove("hnd_billing")).rejects.toMatchObject({ code: "api_not_found" });
  });

  it("have their dead letters skipped, redriven and retried by the verbs of any other", async () => {
    const bench = await inboxBench();
    await bench.post("in_1");
    await bench.post("in_2");
    await bench.work({ in_1: new Error("down") });
    const client = bench.client();
    const [lane] = (await client.lanes.list()).items;
    expect(lane).toMatchObject({ endpointId: "hnd_billing", tenant: "default", state: "halted" });
    await client.lanes.skip(lane?.id ?? "", lane?.head ?? "");
    await bench.work();
    expect(bench.effects).toEqual(["billing in_2"]);
    await client.redrive(lane?.headId ?? "");
    await bench.work();
    expect(bench.effects).toEqual(["billing in_2", "billing in_1"]);
    expect(await client.consumers.retry("hnd_billing")).toEqual({ retried: 0 });
    await expect(client.consumers.retry("hnd_none")).rejects.toMatchObject({ code: "api_not_found" });
    expect((await client.dead.groups({ tenant: "default" })).items).toEqual([]);
  });
});
