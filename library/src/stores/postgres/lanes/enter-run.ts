import type { StoredArrival } from "../../../inbox/worker/stored-arrival.js";
import { columns, number, text } from "../client/columns.js";
import type { Answer, Statement } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import { withoutNul } from "../client/identifiers.js";
import { eventLock, lockOfHandler } from "../inbox/inbox-row.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

/** A row of the inbox that this transaction has written. */
export interface EnteredRow {
  readonly id: string;
  readonly ctid: string;
  readonly pid: string;
  readonly xid: string;
  readonly round: number;
}

const ENTERED = columns<EnteredRow>({
  id: text("known.event_id"),
  ctid: text("known.ctid::text"),
  pid: text("pg_backend_pid()::text"),
  xid: text("pg_current_xact_id()::text"),
  round: number("known.round"),
});

/** What of a delivery its row is made of. */
type Entering = Pick<StoredArrival, "arrival"> & {
  readonly delivery: { readonly event: { readonly id: string } };
};

const GIVEN = givenRows<Entering>(
  {
    tenant: texts(({ arrival }) => arrival.tenant),
    source: texts(({ arrival }) => arrival.source),
    event_id: texts(({ arrival }) => arrival.id),
    id_preview: texts(({ arrival }) => arrival.idPreview),
    type: texts(({ arrival }) => withoutNul(arrival.type)),
    event_ms: numbers("float8", ({ arrival }) => arrival.eventAt?.getTime()),
    window_s: numbers("float8", ({ arrival }) => arrival.windowS),
    stored_as: texts(({ delivery }) => delivery.event.id),
  },
  { body_hash: ({ arrival }) => arrival.bodyHash },
);

/** Takes the locks of a run's events and writes their rows, as if their handlers had succeeded; those that it got are returned. */
export function enterRun(arrivals: readonly Entering[], consumer: string, tables: Tables): Statement {
  return { text: ENTER(tables), params: [consumer, ...GIVEN.params(arrivals)], prepared: true };
}

export function enteredOf({ rows }: Answer): ReadonlyMap<string, EnteredRow> {
  return new Map(rows.map((row) => ENTERED.read(row)).map((entered) => [entered.id, entered]));
}

// Rows of one time are listed by their ids: without a microsecond each, a replay of the run would lose the order of its key.
// The row of a handler that has a name of its own has a lock of its own: several handlers of one event must not be busy
// with each other. That of the default one has the lock of the in-transaction receiver, whose row it is.
const ENTER = sqlFor(
  (tables) => `
    insert into ${tables.inbox} as known (tenant, source, event_id, consumer, stored_as, id_preview, type, event_at, outcome,
      attempts, receipts, received_at, last_received_at, keep_until, body_hash)
    select tenant, source, event_id, $1::text, stored_as, id_preview, type, to_timestamp(event_ms / 1000), 'success', 1, 1,
      at, at, at + make_interval(secs => window_s), body_hash
    from ${GIVEN.table("arrival", 2)} cross join (select clock_timestamp() as run_at) as clock
    cross join lateral (select run_at + n * interval '1 microsecond' as at) as entering
    where pg_try_advisory_xact_lock(case when $1::text = '' then ${eventLock(tables, "arrival")}
      else ${lockOfHandler("$1::text", eventLock(tables, "arrival"))} end)
    order by n
    on conflict (tenant, source, event_id, consumer) do update set
      stored_as = excluded.stored_as, id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at,
      outcome = 'success', attempts = known.attempts + 1, receipts = known.receipts + 1,
      last_received_at = excluded.last_received_at, keep_until = excluded.keep_until, headers = null,
      body_hash = excluded.body_hash, body = null
      where known.outcome in ('failed', 'skipped', 'pending')
    returning ${ENTERED.list}`,
);
