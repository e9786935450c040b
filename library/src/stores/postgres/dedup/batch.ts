import type { Pool } from "../client/database.js";
import { columns, text } from "../client/columns.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";

/** An id on its way to the table. */
export interface Receipt {
  /** In its stored form. */
  readonly id: string;
  readonly ttlS: number;
}

export interface Batch {
  /** Quoted, with its schema. */
  readonly table: string;
  readonly acquireMs: number;
}

/** A batch of ids of one scope. */
export interface ScopedBatch extends Batch {
  readonly scope: string;
}

/** A row that an insert without an answer may have left. */
export interface MarkedId {
  readonly id: string;
  readonly mark: string;
}

/** What became of a batch; an id in neither is a duplicate. */
export interface Recorded {
  readonly first: ReadonlySet<string>;
  /** Held by a transaction that has not ended. */
  readonly busy: ReadonlySet<string>;
}

const MARKED = givenRows<MarkedId>({
  id: texts(({ id }) => id),
  mark: texts(({ mark }) => mark),
});

const RECEIPTS = givenRows<Receipt>({
  id: texts(({ id }) => id),
  ttl: numbers("float8", ({ ttlS }) => ttlS),
});

const RECORDED = columns<{ readonly id: string; readonly state: "first" | "busy" }>({
  id: text("recorded.id"),
  state: text("recorded.state"),
});

// Only a writer that takes no advisory lock can make a batch wait for a row; this is how long it may.
const LOCK_TIMEOUT_MS = 100;

/** Records ids that are unique and sorted, in one statement, under a mark by which their rows are known again. */
export async function recordBatch(
  pool: Pool<unknown>,
  receipts: readonly Receipt[],
  { table, scope, acquireMs, mark }: ScopedBatch & { readonly mark: string },
): Promise<Recorded> {
  const sql = recordTexts.get(table) ?? recordSql(table);
  recordTexts.set(table, sql);
  const params = [mark, scope, ...RECEIPTS.params(receipts)];
  const { rows } = await pool.query({ text: sql, params, prepared: true }, acquireMs);
  const recorded = rows.map((row) => RECORDED.read(row));
  const idsThatAre = (wanted: "first" | "busy"): ReadonlySet<string> =>
    new Set(recorded.filter(({ state }) => state === wanted).map(({ id }) => id));
  return { first: idsThatAre("first"), busy: idsThatAre("busy") };
}

// Made once per table: the driver finds a prepared statement by its text, and would hash a new one each time.
const recordTexts = new Map<string, string>();

// The lock is tried, never waited for: one id held by a slow transaction stalled a whole batch for 3 s, and the next
// batch that shared an id with it. Whoever gets the lock is alone with the id, so `on conflict` decides at once, and
// beyond the statement's snapshot: a row that was committed after it is a conflict too.
// `now()` is the time at which a transaction began; an id expires by the time it is.
function recordSql(table: string): string {
  return `
    with given as materialized (
      select id, ttl
      from (select set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true) as lock_timeout) as setting
      cross join ${RECEIPTS.table("receipt", 3)}
    ), locked as materialized (
      select id, ttl, pg_try_advisory_xact_lock(${lockKey(table, "$2::text", "id")}) as got from given
    ), written as (
      insert into ${table} as known (scope, id, expires_at, mark)
      select $2::text, id, clock_timestamp() + make_interval(secs => ttl), $1::text::int8 from locked where got
      on conflict (scope, id) do update set expires_at = excluded.expires_at, mark = excluded.mark
        where known.expires_at <= clock_timestamp()
      returning id
    )
    select ${RECORDED.list} from (
      select id, 'first' as state from written
      union all
      select id, 'busy' from locked where not got
    ) as recorded`;
}

/** The number of the lock that every writer of an id takes first. */
export function lockKey(table: string, scope: string, id: string): string {
  return `hashtextextended(${id}, hashtextextended(${scope}, to_regclass('${table}')::oid::int8))`;
}

/** Whose the rows of ids are after a lost answer; an id in neither has no row. */
export interface Resolved {
  /** Had one of the marks, and has the new one now. */
  readonly own: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
}

const RESOLVED = columns<{ readonly id: string; readonly whose: "own" | "others" }>({
  id: text("resolved.id"),
  whose: text("resolved.whose"),
});

/**
 * Takes the rows that inserts without an answer have left, by their ids and marks, under a new mark. By an update: a
 * give-back of the old mark that is still on its way then finds nothing to remove. Only read, the row would be called
 * first here and removed there, and the id would be first a second time.
 */
export async function takeMarked(
  pool: Pool<unknown>,
  marked: readonly MarkedId[],
  { table, scope, acquireMs, mark }: ScopedBatch & { readonly mark: string },
): Promise<Resolved> {
  const { rows } = await pool.query(
    {
      text: `
        with given as materialized (
          select id, mark::int8 as mark from ${MARKED.table("marked", 3)}
        ), own as (
          update ${table} as known set mark = $1::text::int8 from given
          where known.scope = $2::text and known.id = given.id and known.mark = given.mark
            and known.expires_at > clock_timestamp()
          returning known.id
        )
        select ${RESOLVED.list} from (
          select id, 'own' as whose from own
          union all
          select distinct known.id, 'others' from ${table} as known join given using (id)
          where known.scope = $2::text and known.expires_at > clock_timestamp()
            and not exists (select from given as mine where mine.id = known.id and mine.mark = known.mark)
        ) as resolved`,
      params: [mark, scope, ...MARKED.params(marked)],
    },
    acquireMs,
  );
  const resolved = rows.map((row) => RESOLVED.read(row));
  const idsOf = (wanted: "own" | "others"): ReadonlySet<string> =>
    new Set(resolved.filter(({ whose }) => whose === wanted).map(({ id }) => id));
  return { own: idsOf("own"), others: idsOf("others") };
}

/** Removes rows by their ids and marks: nobody was told that these ids are first. */
export async function removeMarked(
  pool: Pool<unknown>,
  marked: readonly MarkedId[],
  { table, scope, acquireMs }: ScopedBatch,
): Promise<void> {
  await pool.query(
    {
      text: `
        delete from ${table} as known using ${MARKED.table("given", 2)}
        where known.scope = $1::text and known.id = given.id and known.mark = given.mark::int8`,
      params: [scope, ...MARKED.params(marked)],
    },
    acquireMs,
  );
}

/** Removes ids that have expired, oldest first, and says how many. Rows that someone is renewing are left out. */
export async function removeExpired(
  pool: Pool<unknown>,
  limit: number,
  { table, acquireMs }: Batch,
): Promise<number> {
  const { rows } = await pool.query(
    {
      // `clock_timestamp()` called once, not per row, so that the index is used; rows found by their ctid, so that
      // no plan can scan the table for them.
      text: `
        with gone as (
          delete from ${table} where ctid = any (array(
            select ctid from ${table} where expires_at <= (select clock_timestamp())
            order by expires_at limit $1::text::int8 for update skip locked
          )) returning 1
        ) select count(*)::text as count from gone`,
      params: [String(limit)],
    },
    acquireMs,
  );
  return Number(rows[0]?.[0] ?? 0);
}

/** Whether a purge would find something to remove. */
export async function isAnyExpired(pool: Pool<unknown>, { table, acquireMs }: Batch): Promise<boolean> {
  const { rows } = await pool.query(
    {
      text: `select exists (select from ${table} where expires_at <= (select clock_timestamp()))::text as more`,
    },
    acquireMs,
  );
  return rows[0]?.[0] === "true";
}
