import type { Pool } from "pg";
import { systemClock } from "posthorn";
import { everyItem, problemOf } from "posthorn/client";
import { createDispatcher } from "posthorn/dispatch";
import { migrate, postgresStore } from "posthorn/postgres";
import { createFakeClock } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVER_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";
import { benchOf, closeBenches } from "./api-bench.js";
import type { ApiBench } from "./api-bench.js";

// The API on Postgres, as two nodes see it. What it says and refuses is tested beside its routes, on SQLite.

const seal = { seal: (secret: string) => secret, open: (sealed: string) => sealed };
const pools: Pool[] = [];
let here: ApiBench;
let there: ApiBench;

async function node(url: string): Promise<ApiBench> {
  const pool = quietPool({ connectionString: url, max: 5, connectionTimeoutMillis: 2000 });
  pool.on("error", () => undefined);
  pools.push(pool);
  await migrate(pool);
  await migrate(pool, { set: { name: "server", migrations: SERVER_MIGRATIONS } });
  return benchOf({
    registry: postgresRegistry(pool, "posthorn", seal),
    outbox: postgresStore({ client: pool }),
    clock: createFakeClock({ at: Date.now() }),
  });
}

beforeAll(async () => {
  const url = await freshDatabase();
  here = await node(url);
  there = await node(url);
});
afterAll(async () => {
  await closeBenches();
  await Promise.all(pools.filter((pool) => !pool.ended).map((pool) => pool.end()));
});

async function deliver(bench: ApiBench, status: number): Promise<void> {
  const { parts } = bench;
  bench.answer({
    outcome: status < 300 ? { kind: "acknowledged", status } : { kind: "refused", status },
    answer: new TextEncoder().encode("said"),
    durationMs: 5,
  });
  const dispatcher = createDispatcher({ store: parts.outbox, egress: parts.egress, clock: systemClock });
  await dispatcher.drain();
  await dispatcher.stop();
}

describe("the API on Postgres", () => {
  it("takes a token of another node, until that takes it back", async () => {
    const { token, id } = await here.client().tokens.create({ name: "roaming", scope: "full" });
    expect((await there.client(token).tokens.list()).items).toContainEqual(expect.objectContaining({ id }));
    await here.client().tokens.remove(id);
    await there.clock.advance(3000);
    await expect(there.client(token).tokens.list()).rejects.toMatchObject({ code: "api_unauthorised" });
  });

  it("keeps sources and endpoints, page by page", async () => {
    for (const name of ["a", "b", "c"])
      await here.client().sources.create({ name, scheme: "none", allowUnverified: true });
    const names: string[] = [];
    for await (const { name } of everyItem((page) => there.client().sources.list(page), { limit: 2 }))
      names.push(name);
    expect(names).toEqual(["a", "b", "c"]);
    await expect(
      there.client().sources.create({ name: "a", scheme: "none", allowUnverified: true }),
    ).rejects.toMatchObject({
      code: "api_conflict",
    });
    const { id } = await here
      .client()
      .endpoints.create({ url: "https://example.com/", types: ["none"], dead: "park" });
    expect(await there.client().endpoints.update(id, { dead: null, maxInFlight: 3 })).toMatchObject({
      dead: null,
      maxInFlight: 3,
      types: ["none"],
    });
  });

  it("publishes once under an id, on whichever node, and follows the event to its end", async () => {
    const client = here.client();
    await client.endpoints.create({ id: "ep_1", url: "https://example.com/", retry: { waitsMs: [] } });
    const event = { type: "order.paid", key: "k", id: "e1", data: { n: 1 } };
    const [first, second] = [await client.events.publish(event), await there.client().events.publish(event)];
    expect([first.duplicate, second.duplicate]).toEqual([false, true]);
    await client.events.publish({ ...event, id: "e2" });
    const conflict: unknown = await there
      .client()
      .events.publish([
        { ...event, id: "e3" },
        { ...event, data: 2 },
      ])
      .catch((error: unknown) => error);
    expect(problemOf(conflict)).toMatchObject({ code: "conflict", ids: ["e1"] });

    await deliver(here, 500);
    const [delivery] = (await there.client().deliveries.list({ event: "e1" })).items;
    expect(delivery).toMatchObject({ state: "dead", because: "exhausted", lastStatus: 500, attempts: 1 });
    expect((await there.client().lanes.list()).items).toMatchObject([
      { state: "halted", depth: "2", headId: delivery?.id },
    ]);
    expect((await there.client().dead.list()).items).toMatchObject([{ eventId: "e1", blocks: true }]);
    expect((await there.client().deliveries.attempts(delivery?.id ?? "")).items).toMatchObject([
      { outcome: "refused", answer: btoa("said") },
    ]);
    expect(await there.client().redrive(delivery?.id ?? "")).toEqual({ result: "in_place" });
    await deliver(there, 204);
    expect(await here.client().events.get("e1")).toMatchObject({
      deliveries: [{ state: "delivered", round: 2 }],
    });
    expect((await here.client().deliveries.list({ event: "e2" })).items).toMatchObject([
      { state: "delivered" },
    ]);
    expect((await here.client().events.list({ key: "k" })).items.map(({ id }) => id)).toEqual(["e2", "e1"]);
  });

  it("finds nothing under names that only Postgres would choke on", async () => {
    for (const path of [
      "lanes/9223372036854775808",
      "deliveries/dlv_9223372036854775808_1",
      "deliveries?event=none",
      "events/none",
      "rejected?after=rej_zz",
      "tokens?after=tok_zz",
    ]) {
      const { statusCode } = await here.call("GET", `/api/v1/${path}`);
      expect([200, 404], path).toContain(statusCode);
    }
    expect((await here.call("GET", "/api/v1/events?key=a%00b")).statusCode).toBe(400);
  });

  it("refuses cursors that no page gave, and names the field", async () => {
    for (const list of [
      "events?after=zz",
      "events?after=99999999999999999999",
      "lanes?after=f0.zz",
      "dead?after=1",
      "dead?after=1_2_3",
    ]) {
      const answer = await here.call("GET", `/api/v1/${list}`);
      expect([answer.statusCode, answer.json()], list).toMatchObject([
        400,
        { code: "request_invalid", field: "after" },
      ]);
    }
  });

  it("tells that the database is away, and does not tell where it was", async () => {
    expect((await there.app.inject("/readyz")).statusCode).toBe(200);
    await pools[1]?.end();
    await there.clock.advance(1000);
    const known = await there.call("GET", "/api/v1/sources");
    expect([known.statusCode, known.json().code]).toEqual([503, "store_unavailable"]);
    expect((await there.app.inject("/readyz")).json()).toMatchObject({ code: "not_ready" });
    expect((await there.app.inject("/healthz")).statusCode).toBe(200);
  });
});
