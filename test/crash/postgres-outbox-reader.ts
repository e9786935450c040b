import { Pool } from "pg";
import type { PoolClient } from "pg";
import { postgresStore } from "posthorn/postgres";
import type { OutboxDatabase, OutboxRows } from "./outbox-database.js";
import { BUSINESS_TABLE } from "./outbox-database.js";

/** A database that has Posthorn's tables, wherever it is; the publisher's is made. */
export async function openPostgresOutboxDatabase(url: string): Promise<OutboxDatabase> {
  const pool = new Pool({ connectionString: url, max: 2, application_name: "posthorn-crash-reader" });
  pool.on("error", () => undefined);
  await pool.query(BUSINESS_TABLE);
  return {
    name: "postgres",
    options: { store: "postgres", database: url },
    outbox: postgresStore({ client: pool }),
    read: async () => {
      const client = await pool.connect();
      try {
        // One snapshot: a worker that is still at it must not be seen at two moments.
        await client.query("begin isolation level repeatable read read only");
        return await readRows(client);
      } finally {
        await client.query("rollback");
        client.release();
      }
    },
    pending: async () => Number((await pool.query<{ n: string }>(PENDING)).rows[0]?.n),
    leases: async () => {
      const { rows } = await pool.query<{ worker: string; n: number }>(LEASES);
      return new Map(rows.map(({ worker, n }) => [worker, n]));
    },
    close: () => pool.end(),
  };
}

const PENDING = `
  select (select coalesce(sum(next_seq - head_seq), 0) from posthorn.lane_state where state = 'flowing')
    + (select count(*) from posthorn.loose_delivery where ready_at is not null)
    + (select count(*) from posthorn.stage) + (select count(*) from posthorn.later)
    + (select count(*) from posthorn.held) as n`;

const LEASES = `
  select leased_by as worker, count(*)::int as n from posthorn.lane_state where leased_by is not null
  group by leased_by`;

async function readRows(client: PoolClient): Promise<OutboxRows> {
  const rows = async (sql: string): Promise<never> => (await client.query(sql)).rows as never;
  return {
    events: await rows(`select id::int as n, public_id as "wireId", body from posthorn.event`),
    endpoints: await rows("select id::int as n, public_id as id from posthorn.consumer"),
    lanes: await rows(
      `select lane_id::int as n, consumer_id::int as endpoint, key, generation::text, head_seq::text as head, state
       from posthorn.lane join posthorn.lane_state using (lane_id, consumer_id)`,
    ),
    deliveries: await rows(
      "select lane_id::int as lane, seq::text, event_id::int as event, round from posthorn.delivery",
    ),
    loose: await rows(
      "select id::int as n, consumer_id::int as endpoint, event_id::int as event, round from posthorn.loose_delivery",
    ),
    attempts: await rows(ATTEMPTS),
    ended: await rows(ENDED),
    business: await rows("select ref from business"),
  };
}

const TIMES = `(extract(epoch from started_at) * 1000)::float8 as "startedAt", duration_ms as "durationMs"`;
const ATTEMPTS = `
  select lane_id::int as lane, seq::text, event_id::int as event, round, no, outcome, ${TIMES} from posthorn.attempt
  union all
  select 0, delivery_id::text, event_id::int, round, no, outcome, ${TIMES} from posthorn.loose_attempt`;

const PLACE = `coalesce(lane_id, 0)::int as lane, coalesce(seq, loose_id)::text as seq, event_id::int as event, round,
  consumer_id::int as endpoint`;
const ENDED = `
  select ${PLACE}, coalesce(resolved_how, 'dead') as state, because from posthorn.dead
  union all
  select ${PLACE}, 'cancelled', because from posthorn.cancelled`;
