import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pickBriefSql, pickDueSql } from "../../library/src/stores/postgres/lanes/pick-due.js";
import { tablesIn } from "../../library/src/stores/postgres/schema/tables.js";
import { KEPT_PLANS } from "../../library/src/stores/postgres/client/own-transaction.js";
import { takeStaged } from "../../library/src/stores/postgres/lanes/stage.js";
import type { Row, Statement } from "../../library/src/stores/postgres/client/database.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

// Plans are kept with connections, so they are made here while the tables are empty, and looked at when they are not.

const MILLION = 1_000_000;
// Some pages for each row that is wanted, and none for those that are not.
const LIMIT = 100;
const MAX_PAGES = LIMIT * 60;

const pool = quietPool({ connectionString: await freshDatabase(), max: 2 });
const session = await pool.connect();
const tables = tablesIn("posthorn");

afterAll(async () => {
  session.release();
  await pool.end();
});

interface Plan {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Runs a prepared statement as the store does, and says how; nothing of it stays. */
async function planOf(execute: string): Promise<Plan> {
  await session.query("begin");
  try {
    await session.query({ text: KEPT_PLANS.text, values: [...(KEPT_PLANS.params ?? [])] });
    const { rows } = await session.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      `explain (analyze, buffers, timing off, format json) execute ${execute}`,
    );
    const [{ "QUERY PLAN": plans }] = rows as [(typeof rows)[0]];
    const [{ Plan: plan }] = plans as [{ Plan: Plan }];
    return plan;
  } finally {
    await session.query("rollback");
  }
}

function expectNarrow(plan: Plan): void {
  const scans = nodesOf(plan).map((node) => node["Node Type"]);
  expect(scans).not.toContain("Seq Scan");
  expect(scans).not.toContain("Hash Join");
  expect(scans).not.toContain("Merge Join");
  expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]).toBeLessThan(MAX_PAGES);
}

const claim = (cursor: number): string =>
  `pick ('${cursor}', '${LIMIT}', '{"ep_due": 1}', '{"ep_due": 500}', '8', '1000')`;

const briefClaim = (cursor: number): string =>
  `pick_brief ('${cursor}', '${LIMIT}', '{"ep_due": 1}', '{"ep_due": 500}', '8', '1000')`;

const claimOfHandlers = (cursor: number): string =>
  `pick_named ('${cursor}', '${LIMIT}', '{}', '{}', '8', '1000', '{hnd_a,hnd_b}')`;

async function takeText(): Promise<string> {
  let text = "";
  const rows: Row[] = [];
  const query = (statement: Statement) => Promise.resolve({ rows, command: (text = statement.text) });
  await takeStaged({ query }, { limit: LIMIT, cursor: "", only: undefined }, tables);
  return text;
}

async function endpoint(id: string, state: string): Promise<void> {
  await pool.query(
    `insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
     values ('${id}', 'default', '{}', 'key', 1000, '${state}', 1)`,
  );
}

/** Lanes of one delivery each; the last ones, which are due first, are whole, and their events have the numbers from 1 on. */
async function lanes(from: number, count: number, of: { endpoint: number; ready: string }): Promise<void> {
  const end = from + count - 1;
  await pool.query(`
    insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq, ready_at)
    select n, ${of.endpoint}, 1, 2, now() + ${of.ready} from generate_series(${from}, ${end}) as n`);
  const whole = `generate_series(${Math.max(from, end - 999)}, ${end}) with ordinality as whole (n, nth)`;
  await pool.query(`
    insert into posthorn.lane (lane_id, consumer_id, key, generation) overriding system value
    select n, ${of.endpoint}, n::text, 1 from ${whole}`);
  await pool.query(`insert into posthorn.delivery select n, 1, nth, 1 from ${whole}`);
}

beforeAll(async () => {
  await session.query(`prepare pick (text, text, text, text, text, text) as ${pickDueSql.endpoint(tables)}`);
  await session.query(
    `prepare pick_brief (text, text, text, text, text, text) as ${pickBriefSql.endpoint(tables)}`,
  );
  await session.query(`prepare take (text, text) as ${await takeText()}`);
  await session.query(
    `prepare pick_named (text, text, text, text, text, text, text) as ${pickDueSql.handler(tables)}`,
  );
  await planOf(claim(0));
  await planOf(briefClaim(0));
  await planOf(claimOfHandlers(0));
  await planOf(`take ('', '${LIMIT}')`);
  await pool.query("set synchronous_commit = off");
  for (const [id, state] of Object.entries({ ep_waits: "active", ep_paused: "paused", ep_due: "active" })) {
    await endpoint(id, state);
  }
  await pool.query(`
    insert into posthorn.event (public_id, tenant, source, type, content_type, event_at, body)
    select 'evt_' || n, 'default', 'app', 'order.paid', 'application/json', now(), '\\x7b7d'
    from generate_series(1, 10000) as n`);
  await pool.query(
    `insert into posthorn.stage (tenant, event_id) select 'default', generate_series(1, ${MILLION})`,
  );
  // In the far future at the first endpoint, long due at one that is paused, and a few at the last.
  await lanes(1, MILLION, { endpoint: 1, ready: "interval '1 hour' + n * interval '1 ms'" });
  await lanes(MILLION + 1, MILLION, { endpoint: 2, ready: "n * interval '-1 ms'" });
}, 120_000);

describe("at a million rows, by plans that were made for none", () => {
  it("a claim that finds nothing due looks at few pages, however many lanes wait", async () => {
    const plan = await planOf(claim(0));
    expect(plan["Actual Rows"]).toBe(0);
    expectNarrow(plan);
  });

  it("a claim of fewer due lanes than its limit reads those, past the lanes of a paused endpoint", async () => {
    await lanes(2 * MILLION + 1, 10, { endpoint: 3, ready: "interval '-1 s'" });
    for (const cursor of [0, 1, 3]) {
      const plan = await planOf(claim(cursor));
      expect(plan["Actual Rows"]).toBe(10);
      expectNarrow(plan);
    }
  });

  it("a claim of as many as its limit reads no more, however many are due", async () => {
    await pool.query("update posthorn.consumer set state = 'active' where public_id = 'ep_paused'");
    const plan = await planOf(claim(0));
    await pool.query("update posthorn.consumer set state = 'paused' where public_id = 'ep_paused'");
    expect(plan["Actual Rows"]).toBeGreaterThan(LIMIT / 2);
    expectNarrow(plan);
  });

  it("a brief claim reads brief lanes, past 5,000 endpoints and 100,000 lanes that are longer", async () => {
    await pool.query(`
      insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
      select 'ep_long_' || n, 'default', '{}', 'key', 1000, 'active', 1 from generate_series(1, 5000) as n`);
    await pool.query(`
      insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq, ready_at)
      select 10000000 + 20 * id + n, id, 1, 10, now() - interval '1 hour'
      from posthorn.consumer cross join generate_series(0, 19) as n where public_id like 'ep_long_%'`);
    for (const cursor of [0, 3, 2000]) {
      const plan = await planOf(briefClaim(cursor));
      expect(plan["Actual Rows"]).toBe(10);
      expectNarrow(plan);
      const pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
      expect(pages).toBeLessThan(1000);
    }
    await pool.query("delete from posthorn.lane_state where lane_id >= 10000000");
    await pool.query("delete from posthorn.consumer where public_id like 'ep_long_%'");
  });

  it("a claim of handlers is by their ids: it reads theirs, and looks at no endpoint that something waits for", async () => {
    await pool.query(`
      insert into posthorn.consumer (public_id, tenant, definition, ordered_by, max_in_flight, state, version)
      select 'ep_many_' || n, 'default', '{}', 'key', 1000, 'active', 1 from generate_series(1, 5000) as n`);
    await pool.query(`
      insert into posthorn.lane_state (lane_id, consumer_id, head_seq, next_seq, ready_at)
      select 10000000 + id, id, 1, 2, now() from posthorn.consumer where public_id like 'ep_many_%'`);
    await pool.query(`
      insert into posthorn.consumer (public_id, kind, tenant, definition, ordered_by, max_in_flight, state, version)
      select id, 'handler', '', '{}', 'key', 1000, 'active', 1 from unnest(array['hnd_a', 'hnd_b']) as id`);
    const { rows } = await pool.query<{ id: string }>(
      "select id::text as id from posthorn.consumer where public_id = 'hnd_b'",
    );
    await lanes(20 * MILLION, 10, { endpoint: Number(rows[0]?.id), ready: "interval '-1 s'" });
    for (const cursor of [0, Number(rows[0]?.id)]) {
      const plan = await planOf(claimOfHandlers(cursor));
      expect(plan["Actual Rows"]).toBe(10);
      expectNarrow(plan);
      const pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
      // A walk over 5,000 endpoints would take some pages for each.
      expect(pages).toBeLessThan(1000);
    }
    await pool.query("delete from posthorn.lane_state where lane_id between 10000000 and 20000000 - 1");
    await pool.query("delete from posthorn.consumer where public_id like 'ep_many_%'");
  });

  it("the sequencer takes the front of the stage, and looks at no more of it", async () => {
    const plan = await planOf(`take ('', '${LIMIT}')`);
    expect(plan["Actual Rows"]).toBe(LIMIT + 1);
    expectNarrow(plan);
  });

  it("the same holds for plans that are made from statistics of such tables", async () => {
    await pool.query("analyze");
    expectNarrow(await planOf(claim(0)));
    expectNarrow(await planOf(briefClaim(0)));
    expectNarrow(await planOf(claimOfHandlers(0)));
    expectNarrow(await planOf(`take ('', '${LIMIT}')`));
  });
});
