import { reach } from "#faults";
import { systemClock } from "../../clock.js";
import type { InboxErrorCode } from "../../inbox/inbox-errors.js";
import type { Acceptance, AcceptLimits, Arrival, Handled } from "../../inbox/inbox-store.js";
import { equalBytes } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import type { Pool, Scope, Session, TransactionEnd } from "./database.js";
import { ARRIVAL, arrivalParams, keyParams, readKnown, tryLock } from "./inbox-row.js";
import { MIGRATE_CURE } from "./migrate.js";
import { againWhenLost, isSaturated, isTransient, storeError, transactionFinished } from "./sqlstate.js";

const MAX_RUNS = 3;
const RERUN_MS = 20;

type Work<Tx> = (tx: Tx) => Promise<Handled> | Handled;

/** Applies events, each in one transaction with its row. */
export class Acceptor<Tx> {
  readonly #pool: Pool<Tx>;
  readonly #inbox: string;

  constructor(pool: Pool<Tx>, inbox: string) {
    this.#pool = pool;
    this.#inbox = inbox;
  }

  async accept(arrival: Arrival, work: Work<Tx>, limits: AcceptLimits): Promise<Acceptance> {
    for (let run = 1; ; run++) {
      const acceptance = await this.#run(arrival, work, limits);
      const again = acceptance.kind === "failed" && isTransient(acceptance.error);
      if (!again || run === MAX_RUNS || limits.signal.aborted) return acceptance;
      // Apart from one another, so that those who met in a deadlock do not meet again.
      await systemClock.sleep(Math.random() * RERUN_MS * 2 ** run, limits.signal);
    }
  }

  async #run(arrival: Arrival, work: Work<Tx>, limits: AcceptLimits): Promise<Acceptance> {
    let begun = false;
    const handle: Work<Tx> = (tx) => {
      begun = true;
      return work(tx);
    };
    reach("accept.before_begin");
    let end: TransactionEnd<Acceptance>;
    try {
      // It throws only while nothing has begun.
      end = await againWhenLost(() =>
        this.#pool.transaction((scope) => this.#apply(scope, arrival, handle), limits),
      );
    } catch (error) {
      if (isSaturated(error)) return { kind: "saturated" };
      throw storeError(error, MIGRATE_CURE);
    }
    if (end.kind === "committed") {
      reach("accept.after_commit");
      return end.value;
    }
    if (end.kind === "unknown" && begun) throw commitUnknown(end.error);
    const ofHandler = begun || limits.signal.aborted || isTransient(end.error);
    if (ofHandler) return { kind: "failed", error: end.error };
    throw storeError(end.error, MIGRATE_CURE);
  }

  async #apply(scope: Scope<Tx>, arrival: Arrival, work: Work<Tx>): Promise<Acceptance> {
    reach("accept.after_begin");
    const { got, attempt } = await this.#enter(scope, arrival);
    if (!got) return { kind: "busy" };
    if (attempt === undefined) return this.#known(scope, arrival);
    reach("accept.after_insert");
    reach("accept.before_handler");
    const handled = await work(scope.tx);
    reach("accept.after_handler");
    if (handled.outcome !== "success" || handled.result !== undefined)
      await this.#note(scope, arrival, handled);
    reach("accept.before_commit");
    return { kind: "applied", attempt };
  }

  /** Takes the event's lock and writes its row as if the handler had succeeded: if it does not, nothing of it stays. */
  async #enter(scope: Scope<Tx>, arrival: Arrival): Promise<{ got: boolean; attempt: number | undefined }> {
    const { rows } = await scope.query({
      text: enterSql(this.#inbox),
      params: arrivalParams(arrival),
      prepared: true,
    });
    const [got, attempt, pid, xid] = rows[0] ?? [];
    if (typeof pid === "string" && typeof xid === "string") scope.backend = { pid, xid };
    return { got: got === "true", attempt: typeof attempt === "string" ? Number(attempt) : undefined };
  }

  /** Says what the row is that stood in the way. Read by a statement of its own, whose snapshot is younger than the lock. */
  async #known(session: Session, arrival: Arrival): Promise<Acceptance> {
    const known = await readKnown(session, arrival, this.#inbox);
    // Purged between the two statements: the next delivery will be the first.
    if (!known) return { kind: "busy" };
    return { kind: equalBytes(known.bodyHash, arrival.bodyHash) ? "duplicate" : "conflict", known };
  }

  async #note(session: Session, arrival: Arrival, { outcome, result }: Handled): Promise<void> {
    const { rows } = await session.query({
      text: `
        update ${this.#inbox} set outcome = $4::text, result = $5::text
        where tenant = $1::text and source = $2::text and event_id = $3::text returning 'noted'`,
      params: [...keyParams(arrival), outcome, result ?? null],
      prepared: true,
    });
    // The handler has rolled back on its own, and the row with it.
    if (rows.length === 0) throw transactionFinished();
  }
}

// One statement, because each costs a round trip while the connection is held. A row that says `failed` is taken over
// whatever its body: nothing of it was applied.
function enterSql(inbox: string): string {
  return `
    with locked as materialized (
      select ${tryLock(inbox)} as got
    ), written as (
      insert into ${inbox} as known (tenant, source, event_id, id_preview, type, event_at, outcome, attempts, receipts,
        received_at, last_received_at, keep_until, headers, body_hash, body)
      select tenant, source, event_id, id_preview, type, event_at, 'success', 1, 1,
        at, at, keep_until, headers, body_hash, body
      from (${ARRIVAL}) as arrival where (select got from locked)
      on conflict (tenant, source, event_id) do update set
        id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at, outcome = 'success',
        attempts = known.attempts + 1, receipts = known.receipts + 1, last_received_at = excluded.last_received_at,
        keep_until = excluded.keep_until, headers = excluded.headers, body_hash = excluded.body_hash, body = excluded.body
        where known.outcome = 'failed'
      returning attempts
    )
    select got::text, (select attempts::text from written), pg_backend_pid()::text,
      case when got then pg_current_xact_id()::text end
    from locked`;
}

function commitUnknown(cause: unknown): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "commit_unknown",
    "The connection was lost while committing. Answer the sender with an error: the next delivery finds the truth.",
    { cause },
  );
}
