import { afterAll, beforeAll, expect, it } from "vitest";
import type { DeadFilter } from "posthorn/operator";
import type { Row, Statement } from "../../library/src/stores/postgres/client/database.js";
import type { StoreDatabase } from "../../library/src/stores/postgres/client/own-transaction.js";
import { foldChanges, listDeadGroups } from "../../library/src/stores/postgres/operator/views/dead-groups.js";
import { redriveAll } from "../../library/src/stores/postgres/operator/redrive.js";
import { listDeadLetters } from "../../library/src/stores/postgres/operator/views/dead-letters.js";
import { tablesIn } from "../../library/src/stores/postgres/schema/tables.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const SMALL = 10_000;
const LARGE = 100_000;

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

/** Runs a verb of the store, and adds up what its statements have read. */
async function rowsOf(verb: (database: StoreDatabase) => Promise<unknown>): Promise<number> {
  let read = 0;
  const transactions = {
    async read({ text, params = [] }: Statement): Promise<{ readonly rows: readonly Row[] }> {
      const explained = await pool.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
        `explain (analyze, timing off, format json) ${text}`,
        [...params],
      );
      read += explained.rows
        .flatMap((row) => row["QUERY PLAN"])
        .reduce((sum, { Plan: plan }) => sum + rowsRead(plan), 0);
      const { rows } = await pool.query<Row>({ text, values: [...params], rowMode: "array" } as never);
      return { rows };
    },
  };
  await verb({ transactions, tables } as unknown as StoreDatabase);
  return read;
}

/** Adds dead letters up to this number: ten endpoints, two reasons, three answers. */
async function fillTo(from: number, to: number): Promise<void> {
  await pool.query(`
    insert into posthorn.dead
      (consumer_id, lane_id, seq, event_id, round, because, attempts, last_status, last_error, died_at)
    select 1 + n % 10, 1 + n % 5000, n, 1 + n % 1000, 1, case when n % 7 = 0 then 'refused' else 'exhausted' end, 15,
      case n % 3 when 0 then 500 when 1 then 503 end, case n % 3 when 2 then 'timeout' end,
      timestamptz '2026-11-18' + interval '1 s' * n
    from generate_series(${from + 1}, ${to}) as n`);
  const { rows } = await pool.query<{ count: string }>(
    "select sum(change)::text as count from posthorn.dead_change",
  );
  expect(rows[0]?.count).toBe(String(to - from));
  await fold();
  await pool.query("vacuum analyze");
}

async function fold(): Promise<void> {
  const session = {
    query: async ({ text, params = [] }: Statement) => {
      const { rows } = await pool.query<Row>({ text, values: [...params], rowMode: "array" } as never);
      return { rows };
    },
  };
  const transactions = {
    // As if there were many: folding is worth it.
    read: () => Promise.resolve({ rows: [["1000"]] }),
    run: (work: (on: typeof session) => Promise<unknown>) => work(session),
  };
  await foldChanges({ transactions, tables } as unknown as StoreDatabase);
}

beforeAll(async () => {
  await pool.query(`
    insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
    select 'ep_' || n, case when n = 3 then 'acme' else 'default' end, '{}', 'key', 10, 'active', 1
    from generate_series(1, 10) as n`);
  await pool.query(`
    insert into posthorn.event (public_id, tenant, source, type, key, content_type, event_at, body)
    select 'evt_' || n, 'default', 'app', 'order.paid', 'k', 'application/json', now(), '\\x7b7d'
    from generate_series(1, 1000) as n`);
  await pool.query(`
    insert into posthorn.lane (lane_id, consumer_id, key, generation) overriding system value
    select n, 1 + (n - 1) % 10, 'k' || n, 1 from generate_series(1, 5000) as n`);
  await pool.query(`
    insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq)
    select n, 1 + (n - 1) % 10, 1, 1 from generate_series(1, 5000) as n`);
  await pool.query("vacuum analyze");
}, 120_000);

const FILTERS: readonly DeadFilter[] = [
  {},
  { order: "oldest" },
  { tenant: "acme" },
  { endpointId: "ep_4" },
  { endpointId: "ep_4", because: "refused", order: "oldest" },
  { status: 503 },
  { error: "timeout", status: null },
  { endpointId: "ep_5", since: new Date("2026-11-18T01:00:00Z"), until: new Date("2026-11-18T02:00:00Z") },
];

it("of ten times as many dead letters, lists by every filter and groups read no more than three times the rows", async () => {
  const measure = async (): Promise<number[]> => {
    const read: number[] = [];
    for (const filter of FILTERS) {
      read.push(await rowsOf((on) => listDeadLetters(on, { limit: 100 }, filter)));
    }
    return [...read, await rowsOf((on) => listDeadGroups(on, {}))];
  };
  await fillTo(0, SMALL);
  const small = await measure();
  await fillTo(SMALL, LARGE);
  const large = await measure();
  const names = [...FILTERS.map((filter) => JSON.stringify(filter)), "groups"];
  const over = names.flatMap((name, n) =>
    (large[n] ?? 0) > 3 * (small[n] ?? 0) ? [`${name}: ${small[n]} rows, then ${large[n]}`] : [],
  );
  expect(over).toEqual([]);
  // A page of a hundred, its events, lanes and endpoints, for each of a few groups.
  expect(Math.max(...large)).toBeLessThan(LARGE / 10);
}, 240_000);

/** What the statements of a transaction have read; it is rolled back. */
async function rowsWithin(verb: (database: StoreDatabase) => Promise<unknown>): Promise<number> {
  let read = 0;
  const client = await pool.connect();
  const query = async ({ text, params = [] }: Statement): Promise<{ readonly rows: readonly Row[] }> => {
    await client.query("savepoint looked");
    const { rows: explained } = await client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      `explain (analyze, timing off, format json) ${text}`,
      [...params],
    );
    await client.query("rollback to looked");
    read += explained
      .flatMap((row) => row["QUERY PLAN"])
      .reduce((sum, { Plan: plan }) => sum + rowsRead(plan), 0);
    const { rows } = await client.query<Row>({ text, values: [...params], rowMode: "array" } as never);
    return { rows };
  };
  // As for a prepared statement that has been run often.
  await client.query("begin; set local plan_cache_mode = force_generic_plan");
  try {
    const transactions = {
      run: (work: (on: { query: typeof query }) => Promise<unknown>) => work({ query }),
    };
    await verb({ transactions, tables } as unknown as StoreDatabase);
    return read;
  } finally {
    await client.query("rollback");
    client.release();
  }
}

it("many that were passed over are redriven by their places, however many were cancelled", async () => {
  await pool.query(`
    insert into posthorn.cancelled (consumer_id, lane_id, seq, event_id, round, because, cancelled_at)
    select 1 + n % 10, 1 + n % 5000, 1000000 + n, 1 + n % 1000, 1,
      case when n % 2 = 0 then 'redriven' else 'skipped' end, now()
    from generate_series(1, ${LARGE}) as n`);
  await pool.query("update posthorn.consumer set kind = 'handler' where id = 1");
  await pool.query("vacuum analyze");
  const wanted = Array.from({ length: 300 }, (_, at) => {
    const n = at * 10;
    const place = { kind: "lane", lane: BigInt(1 + (n % 5000)), sequence: BigInt(1_000_000 + n) } as const;
    return { place, round: 1 };
  });
  const answers: string[] = [];
  const read = await rowsWithin(async (on) => answers.push(...(await redriveAll(on, wanted))));
  expect(new Set(answers.slice(1))).toEqual(new Set(["before"]));
  expect(read).toBeLessThan(LARGE / 10);
}, 120_000);
