import { createDispatcher } from "posthorn/dispatch";
import { problemOf } from "posthorn/client";
import type { Client, Operation, OperationInput } from "posthorn/client";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";
import { OperationRunner } from "../../operations/runner.js";

let bench: ApiBench;
let client: Client;
let runner: OperationRunner;
beforeEach(async () => {
  bench = await apiBench();
  client = bench.client();
  runner = new OperationRunner(bench.parts);
  await client.endpoints.create({ id: "ep_1", url: "https://example.com/", retry: { waitsMs: [] } });
});
afterAll(closeBenches);

/** Delivers what is due, and everything comes to this. */
async function deliver(status: number): Promise<void> {
  const outcome =
    status < 300 ? ({ kind: "acknowledged", status } as const) : ({ kind: "refused", status } as const);
  bench.answer({ outcome, answer: new TextEncoder().encode(`says ${status}`), durationMs: 5 });
  const { outbox, egress, clock } = bench.parts;
  const dispatcher = createDispatcher({ store: outbox, egress, clock });
  await bench.clock.until(dispatcher.drain(), 5);
  await dispatcher.stop();
}

/** So many events die, each in a lane of its own behind which another one waits. */
async function deaths(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => ({ type: "t", id: `e${n}`, key: `k${n}`, data: n }));
  await client.events.publish(events);
  await deliver(500);
  await client.events.publish(events.map(({ key, id }) => ({ type: "t", id: `${id}b`, key, data: 0 })));
}

function plan(input: OperationInput): Promise<Operation> {
  return client.operations.create({ ...input, dryRun: true });
}

async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => problemOf(error)?.code,
  );
}

async function run(): Promise<void> {
  await bench.clock.until(runner.work(), 50);
}

describe("a plan", () => {
  it("of named deliveries leaves out what was redriven before, also where its lane went on", async () => {
    await client.endpoints.update("ep_1", { dead: "skip" });
    await deaths(2);
    const [one, two] = (await client.dead.list()).items.map(({ id }) => id);
    await client.redrive(one ?? "");
    const { plan: told } = await plan({ verb: "redrive", filter: { deliveries: [one ?? "", two ?? ""] } });
    expect(told).toMatchObject({ count: 1, oldest: { id: two } });
  });

  it("says what would be done, to whom, what goes on behind it, and what to know; nothing is changed", async () => {
    await deaths(2);
    await bench.clock.advance(25 * 3_600_000);
    await client.endpoints.pause("ep_1");
    const {
      id,
      state,
      plan: told,
    } = await plan({
      verb: "redrive",
      filter: { dead: { endpoint: "ep_1", status: "500" } },
    });
    expect(state).toBe("planned");
    expect(told).toMatchObject({
      words: "Redrive 2 deliveries of 2 lanes to ep_1, in order.",
      count: 2,
      more: false,
      lanes: 2,
      waitingBehind: 2,
      endpoints: [{ id: "ep_1", count: 2, state: "paused" }],
      oldest: { eventId: "e0" },
      newest: { eventId: "e1" },
    });
    expect(told.sample.map(({ eventId }) => eventId)).toEqual(["e0", "e1"]);
    expect(told.next[0]).toMatchObject({ place: "head", waiting: 1, key: "k0" });
    expect(told.warnings.map(({ code, count }) => `${code} ${count}`)).toEqual([
      "forgotten_ids 2",
      "endpoint_stopped 2",
      "lanes_go_on 2",
    ]);
    expect((await client.dead.list()).items).toHaveLength(2);
    expect((await client.operations.list()).items).toEqual([]);
    expect((await client.operations.list({ state: "planned" })).items).toMatchObject([{ id }]);
  });

  it("is run once by its id, in order, with a result for each item, and survives a second call", async () => {
    await deaths(3);
    const { id } = await plan({ verb: "redrive", filter: { dead: {} } });
    const started = await client.operations.run(id, { rate: 1000, note: "their db is back" });
    expect(started).toMatchObject({ id, state: "running", note: "their db is back", rate: 1000 });
    expect((await client.operations.run(id)).startedAt).toBe(started.startedAt);
    await run();
    const ended = await client.operations.get(id);
    expect(ended).toMatchObject({
      state: "finished",
      done: 3,
      results: { in_place: 3 },
      by: { via: "token" },
    });
    const { items } = await client.operations.items(id);
    expect(items.map(({ number, eventId, result, round }) => [number, eventId, result, round])).toEqual([
      [1, "e0", "in_place", 1],
      [2, "e1", "in_place", 1],
      [3, "e2", "in_place", 1],
    ]);
    expect((await client.operations.items(id, { result: "pending" })).items).toEqual([]);
    await deliver(200);
    expect((await client.dead.list()).items).toEqual([]);
    expect((await client.events.get("e2b")).deliveries).toMatchObject([{ state: "delivered" }]);
  });

  it("stands in the story of each event that it touched, with who and why; so does what was done to one or to a lane", async () => {
    await deaths(1);
    const deeds = async (event: string): Promise<unknown[]> =>
      (await client.story(event)).steps
        .filter(({ kind }) => kind === "deed")
        .map(({ text, by, note, operationId }) => ({ text, by, note, operationId }));
    const { id } = await plan({ verb: "redrive", filter: { dead: {} } });
    await client.operations.run(id, { note: "their db is back" });
    await run();
    const by = (await client.operations.get(id)).by?.name ?? "";
    const first = {
      text: `redrive by ${by}: their db is back`,
      by,
      note: "their db is back",
      operationId: id,
    };
    expect(await deeds("e0")).toEqual([first]);
    // Of what waits behind it, nothing was done to it.
    expect(await deeds("e0b")).toEqual([]);
    await bench.clock.advance(1000);
    const [lane] = (await client.lanes.list()).items;
    await client.lanes.skip(lane?.id ?? "", lane?.head ?? "");
    const second = { text: `skip of lane ${lane?.id} by ${by}`, by, note: null, operationId: null };
    expect(await deeds("e0")).toEqual([first, second]);
    expect(await deeds("e0b")).toEqual([second]);
  });

  it("is refused when another number is dead since, or a named head has moved", async () => {
    await deaths(2);
    const dead = await plan({ verb: "redrive", filter: { dead: {} } });
    const [lane] = (await client.lanes.list()).items;
    const lanes = [{ id: lane?.id ?? "", head: lane?.head ?? "" }];
    const skip = await plan({ verb: "skip", filter: { lanes } });
    await client.lanes.skip(lane?.id ?? "", lane?.head ?? "");
    expect(await codeOf(client.operations.run(skip.id))).toBe("plan_changed");
    // The one that was skipped is no dead letter any more.
    expect(await codeOf(client.operations.run(dead.id))).toBe("plan_changed");
    expect((await client.operations.list()).items).toEqual([]);
  });

  it.each([
    [{ verb: "redrive", filter: {} }],
    [{ verb: "redrive", filter: { dead: {}, lanes: [{ id: "1", head: "1" }] } }],
    [{ verb: "cancel", filter: { dead: {} } }],
    [{ verb: "redrive", filter: { dead: { key: "k" } } }],
  ] as const)("of %j is refused", async (input) => {
    expect(await codeOf(plan(input))).toBe("request_invalid");
  });
});

describe("an operation", () => {
  it("makes at most one step after a stop was answered, and goes slower when it is told to", async () => {
    await deaths(12);
    const { id } = await client.operations.create({ verb: "redrive", filter: { dead: {} }, rate: 10 });
    const working = runner.work();
    // Two of ten a second in each step: it stands at its first pause.
    await bench.clock.until(expect.poll(async () => (await client.operations.get(id)).done).toBe(2), 0);
    expect(await client.operations.rate(id, 5)).toMatchObject({ rate: 5, state: "running" });
    expect(await client.operations.stop(id)).toMatchObject({
      state: "stopping",
      stoppedBy: { via: "token" },
    });
    await bench.clock.until(working, 100);
    expect(await client.operations.get(id)).toMatchObject({ state: "stopped", done: 2 });
    expect((await client.dead.list()).items).toHaveLength(10);
    expect(await codeOf(client.operations.rate(id, 1))).toBe("conflict");
  });

  it("that a node left in the middle of a step is finished by another, each item once", async () => {
    await deaths(4);
    const { id } = await client.operations.create({ verb: "redrive", filter: { dead: {} }, rate: 1000 });
    // As a node does that is killed after it has redriven, and before it could say so.
    const { registry, outbox } = bench.parts;
    const lost = await registry.operations.leaseOperation("killed", 10_000);
    const { items } = await outbox.deadLetters({ limit: 2 }, { order: "oldest" });
    const begun = items.map(({ id: deliveryId, round, eventId, endpointId, laneId }, n) => ({
      number: n + 1,
      deliveryId,
      laneId: String(laneId),
      round,
      through: null,
      eventId,
      endpointId,
    }));
    const lease = { id, epoch: lost?.epoch ?? 0, leaseMs: 10_000 };
    expect(await registry.operations.beginStep(lease, begun, "2 ")).toBe(true);
    await outbox.redriveAll(items);
    expect(await runner.work()).toBe(false);
    await bench.clock.advance(10_001);
    await run();
    expect(await client.operations.get(id)).toMatchObject({
      state: "finished",
      done: 4,
      results: { before: 2, in_place: 2 },
    });
    // What the killed node still says is not heard.
    expect(await registry.operations.beginStep(lease, begun, "0 ")).toBe(false);
    expect((await client.dead.list()).items).toEqual([]);
    await deliver(200);
    const rounds = await Promise.all(begun.map(({ deliveryId }) => client.deliveries.get(deliveryId)));
    expect(rounds.map(({ round, state }) => `${round} ${state}`)).toEqual(["2 delivered", "2 delivered"]);
  });

  it("skips the heads that block, and cancels what waits in a lane", async () => {
    await deaths(2);
    const skip = await client.operations.create({
      verb: "skip",
      filter: { dead: { endpoint: "ep_1", key: "k0" } },
    });
    expect(skip.plan).toMatchObject({ count: 1, next: [{ place: "behind_gap" }] });
    await run();
    expect(await client.operations.get(skip.id)).toMatchObject({ results: { skipped: 1 } });
    const lane = (await client.lanes.list()).items.find(({ key }) => key === "k1");
    const lanes = [{ id: lane?.id ?? "", head: lane?.head ?? "" }];
    const cancel = await client.operations.create({ verb: "cancel", filter: { lanes } });
    expect(cancel.plan).toMatchObject({ count: 2, warnings: [{ code: "cannot_be_undone" }] });
    await run();
    expect(await client.operations.get(cancel.id)).toMatchObject({ state: "finished", done: 2 });
    expect((await client.dead.list()).items).toEqual([]);
  });
});

describe("dead letters", () => {
  it("are grouped by how they died, with notes", async () => {
    await deaths(2);
    const [group] = (await client.dead.groups()).items;
    expect(group).toMatchObject({
      endpointId: "ep_1",
      because: "exhausted",
      status: 500,
      error: null,
      count: 2,
      note: null,
    });
    const { note } = await client.dead.note(group?.id ?? "", "their db moved");
    expect(note).toMatchObject({ text: "their db moved" });
    expect((await client.dead.groups({ status: "500" })).items).toMatchObject([
      { note: { text: "their db moved" } },
    ]);
    expect(await client.dead.note(group?.id ?? "", null)).toEqual({ note: null });
    expect((await client.dead.groups({ status: "none" })).items).toEqual([]);
  });

  it("are listed by filters that an index serves; others are refused with the reason", async () => {
    await deaths(2);
    expect(
      (await client.dead.list({ status: "500", order: "oldest" })).items.map(({ eventId }) => eventId),
    ).toEqual(["e0", "e1"]);
    expect((await client.dead.list({ endpoint: "ep_1", key: "k1" })).items).toMatchObject([
      { eventId: "e1" },
    ]);
    expect((await client.dead.list({ until: "1h" })).items).toEqual([]);
    const refused = await bench.call("GET", "/api/v1/dead?type=t");
    expect(refused.json()).toMatchObject({
      status: 400,
      field: "type",
      detail: expect.stringContaining("no index"),
    });
    expect(await codeOf(client.dead.list({ key: "k1" }))).toBe("request_invalid");
  });
});

describe("the audit", () => {
  it("has every change with who, when, before, after and why, and never a secret", async () => {
    await bench.clock.advance(1);
    const made = await client.endpoints.create({ id: "ep_2", url: "https://example.com/2" });
    await bench.clock.advance(1);
    await bench.call("PATCH", "/api/v1/endpoints/ep_2", { url: "https://example.com/3", note: "they moved" });
    await bench.clock.advance(1);
    await client.endpoints.remove("ep_2");
    await bench.clock.advance(1);
    await codeOf(client.endpoints.pause("ep_none"));
    const { items } = await client.audit.list({ kind: "endpoint" });
    expect(items.map(({ action, subject, status }) => `${action} ${subject.id} ${status}`)).toEqual([
      "endpoint.pause ep_none 404",
      "endpoint.remove ep_2 204",
      "endpoint.update ep_2 200",
      "endpoint.create ep_2 201",
      "endpoint.create ep_1 201",
    ]);
    expect(items[2]).toMatchObject({
      note: "they moved",
      before: { url: "https://example.com/2" },
      after: { url: "https://example.com/3" },
      by: { via: "token" },
    });
    expect(items[1]).toMatchObject({ before: { id: "ep_2" }, after: null });
    expect(made.secret).toMatch(/^whsec_/);
    const everything = JSON.stringify(items);
    expect(everything).not.toContain(made.secret);
    expect(everything).not.toContain("whsec_");
  });

  it("is filtered by one of actor, action, kind and subject, with times, page by page", async () => {
    const { token } = await client.tokens.create({ name: "ops", scope: "full" });
    await bench.clock.advance(1);
    await bench.client(token).endpoints.pause("ep_1");
    await bench.clock.advance(1000);
    await bench.client(token).endpoints.resume("ep_1");
    const actor = (await client.audit.list({ action: "endpoint.pause" })).items[0]?.by.token;
    expect((await client.audit.list({ actor })).items.map(({ action }) => action)).toEqual([
      "endpoint.resume",
      "endpoint.pause",
    ]);
    const first = await client.audit.list({ subject: "ep_1", limit: 1 });
    expect(first.items).toMatchObject([{ action: "endpoint.resume", by: { name: "ops" } }]);
    const second = await client.audit.list({ subject: "ep_1", limit: 1, after: first.next ?? "" });
    expect(second.items).toMatchObject([{ action: "endpoint.pause" }]);
    const until = new Date(bench.clock.now()).toISOString();
    expect((await client.audit.list({ until })).items[0]?.action).toBe("endpoint.pause");
    expect(await codeOf(client.audit.list({ actor, kind: "endpoint" }))).toBe("request_invalid");
    expect(JSON.stringify(await client.audit.list())).not.toContain(token);
  });

  it("refuses a change that it cannot record", async () => {
    const failing = await apiBench({
      registry: {
        audit: {
          ...bench.parts.registry.audit,
          beginAudit: () => Promise.reject(new Error("the disk is full")),
        },
      },
    });
    const answer = await failing.call("POST", "/api/v1/endpoints", {
      id: "ep_x",
      url: "https://example.com/",
    });
    expect(answer.statusCode).toBe(500);
    expect((await failing.client().endpoints.list()).items).toEqual([]);
  });
});
