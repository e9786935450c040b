import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCensus } from "../../library/src/stores/postgres/operator/views/census.js";
import type {
  Answer,
  Pool as StorePool,
  Row,
  Statement,
} from "../../library/src/stores/postgres/client/database.js";
import { listDeliveries, readDelivery } from "../../library/src/stores/postgres/operator/views/deliveries.js";
import { listEvents, readEvent } from "../../library/src/stores/postgres/operator/views/events.js";
import { forgetNames } from "../../library/src/stores/postgres/outbox/forget-names.js";
import { listLanes, readLane } from "../../library/src/stores/postgres/operator/views/lanes.js";
import { tablesIn } from "../../library/src/stores/postgres/schema/tables.js";
import type { StoreDatabase } from "../../library/src/stores/postgres/client/own-transaction.js";
import { OwnTransactions } from "../../library/src/stores/postgres/client/own-transaction.js";
import { release } from "../../library/src/stores/postgres/lanes/release.js";
import type { Removal } from "../../library/src/retention/retention-store.js";
import { readRetention } from "../../library/src/stores/postgres/retention/census.js";
import { createRetention } from "../../library/src/stores/postgres/retention/retention.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const MILLION = 1_000_000;
const LANES = 200_000;
const EMPTY = 180_000;
const WAITING = 200_000;

const pool = quietPool({ connectionString: await freshDatabase(), max: 2 });
const session = await pool.connect();
const tables = tablesIn("posthorn");

afterAll(async () => {
  session.release();
  await pool.end();
});

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Heap Fetches"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Runs statements as a driver does, and keeps how Postgres did it. */
class ExplainingPool implements StorePool<unknown> {
  readonly plans: Plan[] = [];
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async query({ text, params = [] }: Statement): Promise<Answer> {
    const values = [...params];
    // The texts of settings change nothing that is worth a look.
    if (!text.includes("set_config") && !text.includes(" release")) {
      await this.#client.query("savepoint looked");
      const { rows } = await this.#client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
        `explain (analyze, buffers, timing off, format json) ${text}`,
        values,
      );
      this.plans.push(...rows.flatMap((row) => row["QUERY PLAN"].map(({ Plan: plan }) => plan)));
      await this.#client.query("rollback to looked");
    }
    const answer = await this.#client.query<Row>({ text, values, rowMode: "array" } as never);
    return { rows: answer.rows, command: answer.command };
  }

  async transaction(...[first, work, { settings }]: Parameters<StorePool<unknown>["transaction"]>) {
    await this.#client.query("begin");
    try {
      if (settings) await this.query(settings);
      const answer = await this.query(first);
      const scope = { tx: undefined, backend: undefined, query: (each: Statement) => this.query(each) };
      return { kind: "committed" as const, value: (await work(scope, answer)) as never };
    } finally {
      await this.#client.query("rollback");
    }
  }

  async write(...[statement, limits]: Parameters<StorePool<unknown>["write"]>) {
    return this.transaction(statement, () => Promise.resolve(), limits);
  }
}

interface Looked<T> {
  readonly value: T;
  /** How many pages were looked at, all statements together. */
  readonly pages: number;
  readonly nodes: readonly Plan[];
}

async function look<T>(at: (database: StoreDatabase) => Promise<T>): Promise<Looked<T>> {
  const explaining = new ExplainingPool(session);
  const outside = { query: (statement: Statement) => inTransaction(() => explaining.query(statement)) };
  const transaction = explaining.transaction.bind(explaining) as StorePool<unknown>["transaction"];
  const write = explaining.write.bind(explaining);
  const transactions = new OwnTransactions({ ...outside, transaction, write }, 1000);
  const value = await at({ transactions, tables });
  const pages = explaining.plans.reduce(
    (sum, plan) => sum + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
    0,
  );
  return { value, pages, nodes: explaining.plans.flatMap(nodesOf) };
}

async function inTransaction<T>(work: () => Promise<T>): Promise<T> {
  await session.query("begin");
  try {
    return await work();
  } finally {
    await session.query("rollback");
  }
}

// Endpoints are few, and are read as they stand.
function expectNoScan({ nodes }: Pick<Looked<unknown>, "nodes">): void {
  const scanned = nodes.filter((node) => node["Node Type"] === "Seq Scan");
  expect(scanned.map((node) => node["Relation Name"]).filter((name) => name !== "consumer")).toEqual([]);
}

beforeAll(async () => {
  await pool.query(`
    insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
    values ('ep_wide', 'default', '{}', 'key', 1000, 'active', 1), ('ep_few', 'default', '{}', 'key', 1000, 'active', 1),
      ('ep_loose', 'default', '{}', 'none', 1000, 'active', 1), ('ep_rare', 'rare', '{}', 'key', 1000, 'active', 1)`);
  // One of a million is of another tenant, and one of a hundred thousand of another type.
  await pool.query(`
    insert into posthorn.event (public_id, tenant, source, type, key, content_type, event_at, body)
    select 'evt_' || to_char(n, 'FM0000000'), case when n = 77 then 'rare' else 'default' end, 'app',
      case when n % 100000 = 5 then 'order.lost' else 'order.paid' end, 'k' || n % 1000, 'application/json', now(), '\\x7b7d'
    from generate_series(1, ${MILLION}) as n`);
  // Every event was tried, a thousand in each lane.
  await pool.query(`
    insert into posthorn.attempt (lane_id, seq, round, no, event_id, started_at, duration_ms, outcome, status)
    select 1 + n / 1000, n, 1, 1, n, now(), 5, 'acknowledged', 200 from generate_series(1, ${MILLION}) as n`);
  // In nine of ten lanes nothing waits.
  await pool.query(`
    insert into posthorn.lane (lane_id, consumer_id, key, generation) overriding system value
    select n, case when n > ${LANES} - 5 then 2 else 1 end, 'k' || n, 1 from generate_series(1, ${LANES}) as n`);
  await pool.query(`
    insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq, ready_at)
    select n, case when n > ${LANES} - 5 then 2 else 1 end, 1, case when n > ${EMPTY} then 2 else 1 end,
      case when n > ${EMPTY} then now() end from generate_series(1, ${LANES}) as n`);
  await pool.query(`
    insert into posthorn.delivery select n, 1, n, 1 from generate_series(${EMPTY} + 1, ${LANES}) as n`);
  await pool.query(`
    insert into posthorn.loose_delivery (consumer_id, event_id, round, ready_at)
    select 3, n, 1, now() from generate_series(1, ${WAITING}) as n`);
  await pool.query(`
    insert into posthorn.ingest_name
    select 'default', 'app/id/' || to_char(n, 'FM0000000'), 'evt', null, now() - interval '1 day' + interval '1 ms' * n
    from generate_series(1, ${WAITING}) as n`);
  await pool.query(
    `insert into posthorn.stage (tenant, event_id) select 'default', generate_series(1, ${WAITING})`,
  );
  await pool.query("vacuum analyze");
}, 240_000);

describe("at a million rows", () => {
  it("a page of events reads that page", async () => {
    const looked = await look((on) => listEvents(on, {}, { limit: 50 }));
    expect(looked.value.items[0]?.id).toBe("evt_1000000");
    expect(looked.pages).toBeLessThan(500);
    expectNoScan(looked);
    const { next } = looked.value;
    const second = await look((on) => listEvents(on, { tenant: "default" }, { limit: 50, after: next }));
    expect(second.value.items[0]?.id).toBe("evt_0999950");
    expect(second.pages).toBeLessThan(500);
  });

  it.each([
    { filter: { type: "order.lost" }, found: 10 },
    { filter: { tenant: "rare" }, found: 1 },
    { filter: { tenant: "default", source: "elsewhere" }, found: 0 },
    { filter: { key: "k5", type: "order.lost" }, found: 10 },
  ])(
    "events that a filter hardly lets through are looked for in an index alone: %j",
    async ({ filter, found }) => {
      const looked = await look((on) => listEvents(on, filter, { limit: 50 }));
      expect(looked.value.items).toHaveLength(found);
      expect(looked.value.next).toBeUndefined();
      const walk = looked.nodes.find((node) => node["Node Type"] === "Index Only Scan");
      expect(walk?.["Heap Fetches"]).toBeLessThan(1000);
      expect(looked.pages).toBeLessThan(20_000);
      expectNoScan(looked);
    },
  );

  it("one event is found by its id", async () => {
    const looked = await look((on) => readEvent(on, "default", "evt_0100500"));
    expect(looked.value?.type).toBe("order.paid");
    expect(looked.pages).toBeLessThan(50);
    expectNoScan(looked);
  });

  it("the deliveries of an event are found by its lanes and its attempts, and those without a lane by an index alone", async () => {
    // A vacuum passes over pages that somebody looks at; what it passed over would be read from the table.
    await pool.query(`vacuum analyze ${tables.loose}`);
    const looked = await look((on) => listDeliveries(on, "default", ["evt_0100500"]));
    expect(looked.value.map(({ endpointId, state }) => `${endpointId} ${state}`)).toEqual([
      "ep_loose waiting",
      "ep_wide delivered",
    ]);
    const loose = looked.nodes.filter(
      (node) => node["Node Type"] === "Index Only Scan" && node["Relation Name"] === "loose_delivery",
    );
    expect(loose.length).toBeGreaterThan(0);
    expectNoScan(looked);
    const rare = await look((on) => listDeliveries(on, "rare", ["evt_0000077"]));
    expect(rare.pages).toBeLessThan(100);
  });

  it("one delivery is found by its id", async () => {
    const looked = await look((on) => readDelivery(on, { kind: "lane", lane: 1n, sequence: 77n }));
    expect(looked.value).toMatchObject({ eventId: "evt_0000077", state: "delivered", attempts: 1 });
    expect(looked.pages).toBeLessThan(200);
    expectNoScan(looked);
  });

  it("one delivery without a lane is found by its id, however many wait with it", async () => {
    const looked = await look((on) => readDelivery(on, { kind: "loose", id: 500n }));
    expect(looked.value).toMatchObject({ eventId: "evt_0000500", endpointId: "ep_loose", state: "waiting" });
    expect(looked.pages).toBeLessThan(200);
    expectNoScan(looked);
  });

  it("a page of lanes of one endpoint that has many reads that page", async () => {
    const looked = await look((on) => listLanes(on, { endpointId: "ep_wide" }, { limit: 50 }));
    expect(looked.value.items).toHaveLength(50);
    expect(looked.pages).toBeLessThan(10_000);
    expectNoScan(looked);
  });

  it("a page of lanes passes over those in which nothing waits", async () => {
    const looked = await look((on) => listLanes(on, {}, { limit: 50 }));
    expect(looked.value.items[0]?.id).toBe(180_001n);
    expect(looked.pages).toBeLessThan(2000);
    expectNoScan(looked);
    const few = await look((on) => listLanes(on, { endpointId: "ep_few" }, { limit: 50 }));
    expect(few.value.items).toHaveLength(5);
    expect(few.pages).toBeLessThan(10_000);
    expectNoScan(few);
    const one = await look((on) => readLane(on, 190_000n));
    expect(one.pages).toBeLessThan(50);
  });

  it("the census counts no more than it can in a moment, and estimates the rest", async () => {
    const looked = await look((on) => readCensus(on));
    expect(looked.value.staged).toBeGreaterThan(150_000);
    expect(looked.value.waiting).toBeGreaterThan(150_000);
    expect(looked.pages).toBeLessThan(10_000);
    expectNoScan(looked);
  });

  it("names are forgotten from the oldest on, however many there are", async () => {
    const looked = await look((on) => forgetNames(on, { maxNames: 100 }));
    expect(looked.value).toBe(100);
    expect(looked.pages).toBeLessThan(2000);
    expectNoScan(looked);
  });

  it("what a worker has leased is given back without a look at other lanes", async () => {
    await pool.query(`
      update posthorn.lane_state set leased_by = 'worker_1', leased_at = now(), leased_until = now() + interval '1 hour'
      where lane_id = 190000`);
    const looked = await look((on) => release(on, "worker_1", []));
    expect(looked.value).toBe(1);
    expect(looked.pages).toBeLessThan(200);
    expectNoScan(looked);
  });

  it("a step of retention reads what it removes, and of what waits the indexes alone", async () => {
    const step = { windowMs: 0, idWindowMs: 0, limit: 500 } as const;
    const events = await look((on) =>
      createRetention(on).removeOld({ ...step, kind: "events", after: "300000" }),
    );
    // 500 events with an attempt each; nothing waits in the lanes of any.
    expect(events.value).toMatchObject({ kind: "done", next: "300500" });
    expect(removedIn(events)).toBeGreaterThanOrEqual(1000);
    expect(events.pages).toBeLessThan(25_000);
    // The stage is what waits for the sequencer alone, and is read once.
    expectNoScan({ nodes: events.nodes.filter((node) => node["Relation Name"] !== "stage") });
    for (const kind of ["attempts", "answers", "dead", "cancelled", "set_aside", "ids"] as const) {
      const others = await look((on) => createRetention(on).removeOld({ ...step, kind }));
      expect(others.pages).toBeLessThan(30_000);
      expectNoScan(others);
    }
  });

  it("a step of retention finds the lanes of handlers by their names, however many lanes there are", async () => {
    await pool.query(`
      insert into posthorn.consumer (public_id, kind, tenant, definition, ordered_by, state, version)
      select 'hnd_' || n, 'handler', '', '{}', 'key', 'active', 1 from generate_series(1, 3) as n`);
    await pool.query(`alter table posthorn.lane alter column lane_id restart with ${LANES + 1}`);
    await pool.query(`
      with stored as (
        update posthorn.event set receipt = '{}', key = 'order_' || id where id > 600000 and id <= 600500 returning key
      ), made as (
        insert into posthorn.lane (consumer_id, tenant, source, key, generation)
        select consumer.id, 'default', 'app', key, 1 from stored, posthorn.consumer where kind = 'handler'
        returning lane_id, consumer_id
      )
      insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq) select lane_id, consumer_id, 2, 2 from made`);
    await pool.query("delete from posthorn.attempt where event_id > 600000 and event_id <= 600500");
    await pool.query("vacuum analyze posthorn.lane");
    const step = { kind: "events", windowMs: 0, limit: 500, after: "600000" } as const;
    const looked = await look((on) => createRetention(on).removeOld(step));
    expect(removedIn(looked)).toBe(500 + 3 * 500);
    expect(looked.pages).toBeLessThan(70_000);
    expectNoScan({ nodes: looked.nodes.filter((node) => node["Relation Name"] !== "stage") });
  });

  it("how far retention is reads a row of each kind", async () => {
    const looked = await look((on) => readRetention(on));
    expect(looked.value.bytes).toBeGreaterThan(100_000_000);
    expect(looked.value.tables.slice(0, 2).map(({ name }) => name)).toEqual(["event", "attempt"]);
    expect(looked.pages).toBeLessThan(2000);
  });
});

function removedIn({ value }: Looked<Removal>): number {
  return value.kind === "done" ? value.removed : 0;
}
