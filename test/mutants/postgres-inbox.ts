import type { Edit, StoreMutant, SuiteName } from "./mutant.js";
import { WINDOW_SHORTENED } from "./targeted.js";
import {
  GIVEN_BACK,
  HELD_ID,
  ISOLATION_NAMED,
  LOST_ANSWER,
  TAG_CHECKED,
  TIME_GOES_ON,
  TRANSACTION_PROVED,
} from "./targeted-postgres.js";

/** A bug of the inbox or the dedup in Postgres. */
function bug(name: string, file: string, edit: Edit | readonly Edit[], caught: Caught): StoreMutant {
  const edits = Array.isArray(edit) ? edit : [edit];
  const [suite, found, shows] = caught;
  return {
    name,
    database: "postgres",
    file: `stores/postgres/${file}`,
    edits,
    caughtBy: { suite, case: found },
    ...(shows === undefined ? {} : { shows }),
  };
}

type Caught = readonly [suite: SuiteName, name: string, shows?: NonNullable<StoreMutant["shows"]>];

export const POSTGRES_INBOX: readonly StoreMutant[] = [
  bug(
    "the tag of the commit is not checked",
    "client/pg-driver.ts",
    [
      { find: 'if (command === "COMMIT") return', replace: 'if (command !== "") return' },
      // The proof fails in a transaction that is lost, too; this is about a connection without one.
      { find: "this.#scope.closing ?? (backend && proofOf(backend))", replace: "this.#scope.closing" },
    ],
    ["targeted", TAG_CHECKED],
  ),
  bug(
    "the transaction is not proved before its commit",
    "client/pg-driver.ts",
    { find: "this.#scope.closing ?? (backend && proofOf(backend))", replace: "this.#scope.closing" },
    ["targeted", TRANSACTION_PROVED],
  ),
  bug(
    "a handler may begin and end transactions",
    "client/guard.ts",
    {
      find: "const command = transactionCommand(text);",
      replace: 'const command = transactionCommand(text.replace(/./gs, ""));',
    },
    [
      "inbox",
      "a handler that commits by itself and then throws has written nothing, and its event is not known",
    ],
  ),
  bug(
    "isolation is not named",
    "client/database.ts",
    { find: '"isolation level read committed"', replace: '""' },
    ["targeted", ISOLATION_NAMED],
  ),
  bug(
    "an event is remembered outside of the handler's transaction",
    "inbox/accept.ts",
    {
      find: "end = await againWhenLost(() => this.#pool.transaction(enter, apply, limits));",
      replace: `const answer = await this.#pool.query(enter, limits.acquireMs);
      const first = { text: "select 1", params: [], prepared: true };
      end = await this.#pool.transaction(first, (scope) => apply(scope, answer).finally(() => (scope.backend = undefined)), limits);`,
    },
    ["inbox", "a handler that throws leaves nothing behind, and what it threw is handed back"],
  ),
  bug(
    "an event's lock is waited for",
    "inbox/inbox-row.ts",
    {
      find: "return `pg_try_advisory_xact_lock(${lockOfEvent(tables)})`;",
      replace:
        "return `(select true from (select pg_advisory_xact_lock(${lockOfEvent(tables)})) as waited)`;",
    },
    ["inbox", "a delivery of an event that is being applied is told busy at once", "lateness"],
  ),
  bug(
    "the same id with another body counts as the same event",
    "inbox/accept.ts",
    {
      find: 'equalBytes(known.bodyHash, arrival.bodyHash) ? "duplicate" : "conflict"',
      replace: '"duplicate"',
    },
    ["inbox", "the same id with another body is a conflict, and is not applied"],
  ),
  bug(
    "a failed event counts as known",
    "inbox/accept.ts",
    { find: "where known.outcome in ('failed', 'skipped', 'pending')", replace: "where false" },
    ["inbox", "a row that says failed is taken over, and attempts go on counting"],
  ),
  bug(
    "a skipped event counts as known",
    "inbox/accept.ts",
    {
      find: "where known.outcome in ('failed', 'skipped', 'pending')",
      replace: "where known.outcome = 'failed'",
    },
    ["inbox", "a row that says skipped is taken over whatever its body, because nothing of it was applied"],
  ),
  bug(
    "a window ends with the purge",
    "inbox/accept.ts",
    { find: " or known.keep_until <= excluded.last_received_at", replace: "" },
    ["inbox", "an event whose window has passed is new again, though no purge has removed it"],
  ),
  bug(
    "a failure overwrites another delivery's success",
    "inbox/records.ts",
    {
      find: "ordering_key = excluded.ordering_key\n            where known.outcome in ('failed', 'skipped', 'pending') or",
      replace: "ordering_key = excluded.ordering_key where true or",
    },
    ["inbox", "a failure that comes after another delivery's success changes nothing"],
  ),
  bug(
    "failed rows are purged",
    "inbox/records.ts",
    { find: "1, at, at, null, $11::text, headers", replace: "1, at, at, keep_until, $11::text, headers" },
    // The table itself refuses it, so that nothing can be recorded as failed any more.
    ["inbox", "purge never removes a row that says failed", /inbox_failed_is_kept/],
  ),
  bug(
    "the window counts from the first receipt",
    "inbox/touch.ts",
    {
      find: "greatest(inbox.keep_until, clock_timestamp() + make_interval(secs => known.window_s))",
      replace: "inbox.received_at + make_interval(secs => known.window_s)",
    },
    ["inbox", "a duplicate that was noted starts the window again"],
  ),
  bug(
    "a duplicate makes the window shorter",
    "inbox/touch.ts",
    {
      find: "greatest(inbox.keep_until, clock_timestamp() + make_interval(secs => known.window_s))",
      replace: "clock_timestamp() + make_interval(secs => known.window_s)",
    },
    ["targeted", WINDOW_SHORTENED],
  ),
  bug(
    "now() stands still inside of a host's transaction",
    "dedup/in-transaction.ts",
    { find: "where known.expires_at <= clock_timestamp()", replace: "where known.expires_at <= now()" },
    ["targeted", TIME_GOES_ON],
  ),
  bug(
    "an id that another holds is waited for",
    "dedup/batch.ts",
    {
      find: 'pg_try_advisory_xact_lock(${lockKey(table, "$2::text", "id")}) as got',
      replace:
        '(select true from (select pg_advisory_xact_lock(${lockKey(table, "$2::text", "id")})) as waited) as got',
    },
    ["targeted", HELD_ID],
  ),
  bug(
    "a duplicate extends its ttl",
    "dedup/batch.ts",
    [
      {
        find: "set expires_at = excluded.expires_at, mark = excluded.mark\n        where known.expires_at <= clock_timestamp()",
        replace: `set expires_at = excluded.expires_at,
        mark = case when known.expires_at <= clock_timestamp() then excluded.mark else known.mark end`,
      },
      { find: "returning id\n", replace: "returning case when mark = $1::text::int8 then id end as id\n" },
    ],
    ["dedup", "the ttl counts from the first receipt: a duplicate does not extend it"],
  ),
  bug(
    "an insert whose answer was lost is tried again blindly",
    "dedup/coalesced.ts",
    { find: "entry.marks = [...entry.marks, mark];", replace: "" },
    ["targeted", LOST_ANSWER],
  ),
  bug(
    "an id whose caller was told nothing is not given back",
    "dedup/coalesced.ts",
    { find: "this.#givingBack.add(entry.id, entry.marks);", replace: "void this.#givingBack;" },
    ["targeted", GIVEN_BACK],
  ),
  bug(
    "newest is asked without its lock",
    "inbox/newest.ts",
    [
      {
        find: "const kept = await session.query(",
        replace: `const look = "select version::text, event_id from " + tables.newest +
    " where consumer = $1 and tenant = $2 and source = $3 and resource = $4";
  const [seen] = (await session.query({ text: look, params: key })).rows;
  const isAgain = seen !== undefined && BigInt(seen[0]) === version && seen[1] === eventId;
  if (seen !== undefined && BigInt(seen[0]) >= version && !isAgain) return "stale";
  const kept = await session.query(`,
      },
      { find: "where known.kind = excluded.kind and (", replace: "where known.kind = excluded.kind or (" },
    ],
    [
      "outbox",
      "of two transactions that ask for one resource, the second waits for the end of the first: they are never both the newest",
    ],
  ),
  bug(
    "a version is kept without its event",
    "inbox/newest.ts",
    { find: "event_id = excluded.event_id, ", replace: "" },
    [
      "outbox",
      "an equal version is the newest again where the same event brought it, and stale once another event brings a newer one",
    ],
  ),
];
