import { migrate } from "posthorn/postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Row, Statement } from "../../library/src/stores/postgres/client/database.js";
import type { StoreDatabase } from "../../library/src/stores/postgres/client/own-transaction.js";
import { readEnds } from "../../library/src/stores/postgres/operator/views/ends.js";
import {
  listEventIds,
  listEvents,
  readEvent,
  readTenants,
} from "../../library/src/stores/postgres/operator/views/events.js";
import { listHeld, readHeldEvent } from "../../library/src/stores/postgres/operator/views/held.js";
import { readQueue } from "../../library/src/stores/postgres/operator/views/queue.js";
import { readNamedEvents, readRepeats } from "../../library/src/stores/postgres/operator/views/repeats.js";
import { tablesIn } from "../../library/src/stores/postgres/schema/tables.js";
import { SERVER_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const SMALL = 10_000;
const LARGE = 100_000;
const DAY = Date.UTC(2026, 10, 18);

const pool = quietPool({ connectionString: await freshDatabase(), max: 2 });
const tables = tablesIn("posthorn");

afterAll(() => pool.end());

interface Plan {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

/** The rows that the scans of a plan have read. */
function rowsRead(plan: Plan): number {
  const { "Actual Rows": rows, "Actual Loops": loops, "Rows Removed by Filter": removed = 0 } = plan;
  const own = plan["Node Type"].includes("Scan") ? (rows + removed) * loops : 0;
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own);
}

let read = 0;

async function explained(text: string, values: readonly unknown[]): Promise<void> {
  const { rows } = await pool.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
    `explain (analyze, timing off, format json) ${text}`,
    [...values],
  );
  read += rows.flatMap((row) => row["QUERY PLAN"]).reduce((sum, { Plan: plan }) => sum + rowsRead(plan), 0);
}

async function rowsOf({ text, params = [] }: Statement): Promise<readonly Row[]> {
  await explained(text, params);
  return (await pool.query<Row>({ text, values: [...params], rowMode: "array" } as never)).rows;
}

const store = {
  tables,
  transactions: {
    read: async (statement: Statement) => ({ rows: await rowsOf(statement) }),
    readKept: rowsOf,
  },
} as unknown as StoreDatabase;

/** The registry's own statements, each explained before it is run. */
const watched = new Proxy(pool, {
  get(target, name) {
    if (name !== "query") return Reflect.get(target, name, target) as unknown;
    return async (given: { text: string; values?: unknown[] }) => {
      await explained(given.text, given.values ?? []);
      return target.query(given);
    };
  },
});
const registry = postgresRegistry(watched, "posthorn", {
  seal: (secret) => secret,
  open: (sealed) => sealed,
});

/** Adds events up to this number, each with a place, an attempt, a name, a repeat and a death. */
async function fillTo(from: number, to: number): Promise<void> {
  const series = `generate_series(${from + 1}, ${to}) as n`;
  await pool.query(`
    insert into posthorn.event (public_id, tenant, source, type, key, content_type, event_at, written_at, body)
    select 'evt_' || to_char(n, 'FM0000000'), 'default', 'app', 'order.paid', 'k' || n % 100, 'application/json',
      to_timestamp(${DAY / 1000} + n), to_timestamp(${DAY / 1000} + n), '\\x7b7d' from ${series}`);
  await pool.query(`
    insert into posthorn.held (tenant, source, key, generation, seq, event_id, stage_id, until)
    select 'default', 'app', 'k' || n % 100, 1, n, n, n, now() from ${series}`);
  await pool.query(
    `insert into posthorn.delivery (lane_id, seq, event_id, round) select 1 + n % 100, n, n, 1 from ${series}`,
  );
  await pool.query(`
    insert into posthorn.attempt (lane_id, seq, round, no, event_id, started_at, duration_ms, outcome, status)
    select 1 + n % 100, n, 1, 1, n, now(), 5, 'acknowledged', 200 from ${series}`);
  await pool.query(`
    insert into posthorn.dead (consumer_id, lane_id, seq, event_id, round, because, attempts, last_status, died_at)
    select 1, 1 + n % 100, n, n, 1, 'exhausted', 15, 500, now() from ${series}`);
  await pool.query(`
    insert into posthorn.ingest_name (tenant, name, event_id) select 'default', 'stripe/in_' || n, 'evt_' || n from ${series}`);
  await pool.query(`
    insert into posthorn.ingest_repeat (tenant, event_id, kind, receipts, received_at, last_received_at, headers, body_hash)
    select 'default', 'evt_' || to_char(n, 'FM0000000'), 'duplicate', 1, now(), now(), '[]', '\\x01' from ${series}`);
  // A minute for each: older ones must not be read for an hour of today.
  await pool.query(`
    insert into posthorn.series (step, kind, at, name, node, counts, duration, lag)
    select 60, 'source', to_timestamp(${DAY / 1000} - n * 60), 'stripe', 'n1', '{"stored":1}', '', '' from ${series}`);
  await pool.query(`
    insert into posthorn.audit (id, at, token_id, token_name, via, action, kind, subject, request_id)
    select 'aud_' || to_char(n, 'FM0000000'), now(), 'tok_' || n % 100, 'ci', 'token', 'endpoint.update', 'endpoint',
      'ep_' || n % 100, 'req' from ${series}`);
  await pool.query(`
    insert into posthorn.operation_item (operation_id, number, delivery_id, lane_id, event_id, result)
    select 'op_1', n, 'dlv_' || n, n % 100, 'evt_' || to_char(n, 'FM0000000'), 'in_place' from ${series}`);
  await pool.query("vacuum analyze");
}

beforeAll(async () => {
  await migrate(pool, { set: { name: "server", migrations: SERVER_MIGRATIONS } });
  await pool.query(`
    insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
    values ('ep_1', 'default', '{}', 'key', 10, 'active', 1)`);
  await pool.query(`
    insert into posthorn.operation (id, verb, state, filter, plan, planned_by, rate, done, results, planned_at, epoch)
    values ('op_1', 'redrive', 'finished', '{}', '{}', '{}', 1, 0, '{}', now(), 1)`);
  await pool.query(`
    insert into posthorn.lane (lane_id, consumer_id, key, generation) overriding system value
    select n, 1, 'k' || n, 1 from generate_series(1, 100) as n`);
  await pool.query(`
    insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq)
    select n, 1, 5000, 1000000 from generate_series(1, 100) as n`);
}, 120_000);

const ID = "evt_0000777";
const HOUR = { since: new Date(DAY - 3_600_000), until: new Date(DAY) };
const VIEWS: Readonly<Record<string, () => Promise<unknown>>> = {
  "events, newest": () => listEvents(store, {}, { limit: 100 }),
  "events of a time": () =>
    listEvents(
      store,
      { since: new Date(DAY + 1000 * 1000), until: new Date(DAY + 1060 * 1000) },
      { limit: 100 },
    ),
  "events by the beginning of an id": () => listEventIds(store, "default", { prefix: "evt_00007", limit: 5 }),
  "story: the event": () => readEvent(store, "default", ID),
  "story: tenants of an id": () => readTenants(store, ID),
  "story: by the provider's id": () => readNamedEvents(store, "default", ["stripe/in_777"]),
  "story: repeats": () => readRepeats(store, "default", ID),
  "story: ends": () => readEnds(store, { kind: "lane", lane: 78n, sequence: 777n }),
  "story: changes": () => registry.audit.auditOf(["dlv_78_777", "ep_7"], 100),
  "story: operations": () => registry.operations.itemsAbout({ eventId: ID, lanes: ["78"] }, 100),
  "held, first": () => listHeld(store, {}, { limit: 100 }),
  "held of a key": () => listHeld(store, { tenant: "default", source: "app", key: "k7" }, { limit: 10 }),
  "story: held": () => readHeldEvent(store, "default", ID),
  "lane: first": () => readQueue(store, 78n, { part: "first", limit: 12 }),
  "lane: last": () => readQueue(store, 78n, { part: "last", limit: 4 }),
  "lane: finished": () => readQueue(store, 78n, { part: "finished", limit: 3 }),
  "series of an hour": () => registry.readSeries({ step: 60, kind: "source", ...HOUR }),
  "audit, newest": () => registry.audit.listAudit({ limit: 100 }),
  "audit of a subject": () => registry.audit.listAudit({ subject: "ep_7", limit: 100 }),
  "audit of a token": () => registry.audit.listAudit({ actor: "tok_7", limit: 100 }),
};

async function measure(): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const [name, look] of Object.entries(VIEWS)) {
    read = 0;
    await look();
    found.set(name, read);
  }
  return found;
}

it("of ten times as many events, lists, story, lanes, series and audit read no more than three times the rows", async () => {
  await fillTo(0, SMALL);
  const small = await measure();
  await fillTo(SMALL, LARGE);
  const large = await measure();
  console.log([...large].map(([name, rows]) => `${name}: ${small.get(name)} → ${rows}`).join("; "));
  const over = [...large].filter(([name, rows]) => rows > 3 * Math.max(1, small.get(name) ?? 0));
  expect(over).toEqual([]);
  expect([...large.values()].every((rows) => rows > 0)).toBe(true);
}, 240_000);
