import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type { Acceptance, AcceptLimits, Arrival, Handled } from "../../../inbox/inbox-store.js";
import { mayTakeOver } from "../../../inbox/inbox-store.js";
import { equalBytes } from "../../../bytes.js";
import { PosthornError } from "../../../posthorn-error.js";
import { columns, number, text } from "../client/columns.js";
import type { Answer, Pool, Scope, Session, Statement, TransactionEnd } from "../client/database.js";
import { againWhenLost, isSaturated, isTransient, storeError, transactionLeft } from "../client/failure.js";
import { withoutNul } from "../client/identifiers.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { ARRIVAL, arrivalParams, readKnown, tryLock } from "./inbox-row.js";

const MAX_TRIES = 3;
const RETRY_MS = 20;

type Work<Tx> = (tx: Tx) => Promise<Handled> | Handled;

/** Applies events, each in one transaction with its row. */
export class Acceptor<Tx> {
  readonly #pool: Pool<Tx>;
  readonly #tables: Tables;

  constructor(pool: Pool<Tx>, tables: Tables) {
    this.#pool = pool;
    this.#tables = tables;
  }

  async accept(arrival: Arrival, work: Work<Tx>, limits: AcceptLimits): Promise<Acceptance> {
    for (let tries = 1; ; tries++) {
      const acceptance = await this.#once(arrival, work, limits);
      const again = acceptance.kind === "failed" && isTransient(acceptance.error);
      if (!again || tries === MAX_TRIES || limits.signal.aborted) return acceptance;
      // A random wait, so that two deliveries that met in a deadlock do not meet again.
      await systemClock.sleep(Math.random() * RETRY_MS * 2 ** tries, limits.signal);
    }
  }

  async #once(arrival: Arrival, work: Work<Tx>, limits: AcceptLimits): Promise<Acceptance> {
    let begun = false;
    const handle: Work<Tx> = (tx) => {
      begun = true;
      return work(tx);
    };
    const enter: Statement = { text: ENTER(this.#tables), params: arrivalParams(arrival), prepared: true };
    const apply = (scope: Scope<Tx>, answer: Answer): Promise<Acceptance> =>
      this.#apply(scope, { arrival, row: ownRow(scope, answer), work: handle });
    reach("accept.before_insert");
    let end: TransactionEnd<Acceptance>;
    try {
      // It throws only before anything has begun, so that a retry repeats nothing.
      end = await againWhenLost(() => this.#pool.transaction(enter, apply, limits));
    } catch (error) {
      if (isSaturated(error)) return { kind: "saturated" };
      throw storeError(error, MIGRATE_CURE);
    }
    if (end.kind === "committed") {
      reach("accept.after_commit");
      return end.value;
    }
    if (end.kind === "rolled_back") reach("accept.after_rollback");
    if (end.kind === "unknown" && begun) throw commitUnknown(end.error);
    const ofHandler = begun || limits.signal.aborted || isTransient(end.error);
    if (ofHandler) return { kind: "failed", error: end.error };
    throw storeError(end.error, MIGRATE_CURE);
  }

  async #apply(scope: Scope<Tx>, { arrival, row, work }: Entered<Tx>): Promise<Acceptance> {
    if (!row) return this.#known(scope, arrival);
    reach("accept.after_insert");
    reach("accept.before_handler");
    const handled = await work(scope.tx);
    reach("accept.after_handler");
    if (handled.outcome !== "success" || handled.result !== undefined)
      await noteHandled(scope, row.ctid, { handled, tables: this.#tables });
    reach("accept.before_commit");
    return { kind: "applied", attempt: row.attempt };
  }

  /**
   * Says why nothing was written: there is a row that is applied, or another delivery has the lock. Read by a statement of
   * its own, because the first one's snapshot may be older than the row.
   */
  async #known(session: Session, arrival: Arrival): Promise<Acceptance> {
    reach("accept.before_known");
    const known = await readKnown(session, arrival, this.#tables, { ifKept: true });
    reach("accept.after_known");
    if (!known || mayTakeOver(known.outcome)) return { kind: "busy" };
    return { kind: equalBytes(known.bodyHash, arrival.bodyHash) ? "duplicate" : "conflict", known };
  }
}

/** Writes what a handler came to into the row that this transaction has written. */
export async function noteHandled(
  session: Session,
  ctid: string,
  { handled: { outcome, result, because }, tables }: { readonly handled: Handled; readonly tables: Tables },
): Promise<void> {
  reach("accept.before_note");
  const why = because === undefined ? null : withoutNul(because);
  const params = [ctid, outcome, result ?? null, why];
  const { rows } = await session.query({ text: NOTE(tables), params, prepared: true });
  reach("accept.after_note");
  // The handler has rolled back on its own, and the row with it.
  if (rows.length === 0) throw transactionLeft();
}

interface Entered<Tx> {
  readonly arrival: Arrival;
  readonly row: OwnRow | undefined;
  readonly work: Work<Tx>;
}

/** The row that this transaction has written. */
interface OwnRow {
  readonly attempt: number;
  /** Its ctid, by which it is found again without an index. */
  readonly ctid: string;
}

interface EnteredValues extends OwnRow {
  readonly pid: string;
  readonly xid: string;
}

const ENTERED = columns<EnteredValues>({
  attempt: number("attempts"),
  ctid: text("known.ctid::text"),
  pid: text("pg_backend_pid()::text"),
  xid: text("pg_current_xact_id()::text"),
});

/** Undefined when the statement has written nothing: the event is known, or another delivery has its lock. */
function ownRow(scope: Scope<unknown>, { rows }: Answer): OwnRow | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const { attempt, ctid, pid, xid } = ENTERED.read(row);
  scope.backend = { pid, xid };
  return { attempt, ctid };
}

// Takes the event's lock and writes its row as if the handler had succeeded: if it does not, nothing of it stays.
// One statement, because each costs a round trip while the connection is held; and a plain one, because joining its
// parts by CTEs cost as much again as the insert. A row that says `failed` or `skipped` is taken over whatever its body:
// nothing of it was applied. So is one whose window has passed: a purge would have removed it, and may never run.
const ENTER = sqlFor(
  (tables) => `
    insert into ${tables.inbox} as known (tenant, source, event_id, id_preview, type, event_at, outcome, attempts,
      receipts, received_at, last_received_at, keep_until, headers, body_hash, body)
    select tenant, source, event_id, id_preview, type, event_at, 'success', 1, 1,
      at, at, keep_until, headers, body_hash, body
    from (${ARRIVAL}) as arrival where ${tryLock(tables)}
    on conflict (tenant, source, event_id, consumer) do update set
      id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at, outcome = 'success',
      attempts = known.attempts + 1, receipts = known.receipts + 1, last_received_at = excluded.last_received_at,
      keep_until = excluded.keep_until, headers = excluded.headers, body_hash = excluded.body_hash, body = excluded.body,
      result = null
      where known.outcome in ('failed', 'skipped', 'pending') or known.keep_until <= excluded.last_received_at
    returning ${ENTERED.list}`,
);

// Found by its ctid: a plan that was made while the table was small would scan it for the key. Another row may lie
// there when the handler has rolled back on its own.
const NOTE = sqlFor(
  ({ inbox }) => `
    update ${inbox} set outcome = $2::text, result = $3::text, error = coalesce($4::text, error)
    where ctid = $1::text::tid and xmin = pg_current_xact_id()::xid returning 'noted' as noted`,
);

function commitUnknown(cause: unknown): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_commit_unknown",
    "The connection was lost while committing. Answer the sender with an error: the next delivery finds the truth.",
    { cause },
  );
}
