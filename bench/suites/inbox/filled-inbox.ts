import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Pool } from "pg";
import { migrate } from "posthorn/postgres";
import { BODY, signedEvent, SOURCE, TYPE } from "./signed-events.js";

export type IdOrder = "ordered" | "random";

export interface Fill {
  readonly rows: number;
  readonly order: IdOrder;
  readonly say: (text: string) => void;
}

const ROWS_PER_STATEMENT = 250_000;
const HEADERS = JSON.stringify(signedEvent("evt_1").headers);
const HASH = createHash("sha256").update(BODY).digest();
// Eleven days of events, one every 200 ms, with the window that a receiver gives them.
const EVERY_MS = 200;
const WINDOW_MS = 14 * 24 * 3600 * 1000;

/** Makes an inbox in a schema of its own, and fills it as if so many events had been received before. */
export async function fillPostgres(pool: Pool, schema: string, { rows, order, say }: Fill): Promise<void> {
  await migrate(pool, { schema });
  // Older than every id of a turn: "evt_0" sorts before the digits of a time.
  const id = order === "random" ? "'evt_' || gen_random_uuid()" : "'evt_0' || lpad(n::text, 25, '0')";
  for (let first = 1; first <= rows; first += ROWS_PER_STATEMENT) {
    say(`filling ${schema}: ${(first - 1).toLocaleString("en-US")} of ${rows.toLocaleString("en-US")} rows`);
    await pool.query(
      `insert into ${schema}.inbox (tenant, source, event_id, type, event_at, outcome, attempts, receipts,
         received_at, last_received_at, keep_until, headers, body_hash, body)
       select 'default', $1, ${id}, $2, at, 'success', 1, 1, at, at, at + interval '14 days', $3, $4::bytea, $5::bytea
       from (
         select n, now() - ($6::int8 - n) * interval '${EVERY_MS} ms' as at
         from generate_series($7::int8, $8::int8) as n
       ) as received`,
      [SOURCE, TYPE, HEADERS, HASH, BODY, rows, first, Math.min(first + ROWS_PER_STATEMENT - 1, rows)],
    );
  }
  // Done now, or autovacuum would do it during somebody's turn.
  await pool.query(`vacuum analyze ${schema}.inbox`);
  await pool.query("checkpoint");
}

/** The same in SQLite, in a file that was migrated. */
export function fillSqlite(db: Database, { rows, order, say }: Fill): void {
  const id = order === "random" ? "'evt_' || hex(randomblob(16))" : "'evt_0' || printf('%025d', n)";
  const insert = db.prepare(
    `insert into posthorn_inbox (tenant, source, event_id, type, event_at, outcome, attempts, receipts,
       received_at, last_received_at, keep_until, headers, body_hash, body)
     with recursive series (n) as (select @first union all select n + 1 from series where n < @last)
     select 'default', @source, ${id}, @type, at, 'success', 1, 1, at, at, at + ${WINDOW_MS}, @headers, @hash, @body
     from (select n, @now - (@rows - n) * ${EVERY_MS} as at from series)`,
  );
  // What is filled may be lost: nothing is measured yet.
  db.pragma("journal_mode = off");
  db.pragma("synchronous = off");
  for (let first = 1; first <= rows; first += ROWS_PER_STATEMENT) {
    say(`filling SQLite: ${(first - 1).toLocaleString("en-US")} of ${rows.toLocaleString("en-US")} rows`);
    const last = Math.min(first + ROWS_PER_STATEMENT - 1, rows);
    const values = { source: SOURCE, type: TYPE, headers: HEADERS, hash: HASH, body: BODY };
    insert.run({ ...values, first, last, rows, now: Date.now() });
  }
  db.pragma("journal_mode = wal");
  db.pragma("synchronous = full");
  syncFile(db.name);
}

/** Gigabytes that wait to be written would be written during somebody's turn. */
function syncFile(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}
