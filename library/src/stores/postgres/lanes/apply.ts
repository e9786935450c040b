import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { Handled } from "../../../inbox/inbox-store.js";
import { mayTakeOver } from "../../../inbox/inbox-store.js";
import { arrivalsOf, inboxConsumer } from "../../../inbox/worker/stored-arrival.js";
import type { StoredArrival } from "../../../inbox/worker/stored-arrival.js";
import { redrivenAttempts } from "../../../inbox/worker/redriven-attempts.js";
import type { Applied, ApplyLimits, ApplyWork, EnteredDelivery } from "../../../inbox/worker/worker-store.js";
import type { Claim } from "../../../lanes/lane-store.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type { Answer, Pool, Scope, TransactionEnd } from "../client/database.js";
import {
  againWhenLost,
  isSaturated,
  isTransient,
  sqlState,
  storeError,
  transactionLeft,
} from "../client/failure.js";
import { noteHandled } from "../inbox/accept.js";
import { readKnown } from "../inbox/inbox-row.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";
import { enterRun, enteredOf } from "./enter-run.js";
import type { EnteredRow } from "./enter-run.js";
import { insertAttempts } from "./attempt-rows.js";
import { nextClaimOf, settleRun } from "./settle-run.js";

const MAX_TRIES = 3;
const RETRY_MS = 20;

// Raised by `settle_1` of the schema.
const STALE = "PH001";
const LEFT = "PH002";

/** A row of the run was not to be had: it is applied, or somebody else is applying it. The run ends before it. */
class RunShortened extends Error {
  readonly length: number;

  constructor(length: number) {
    super("the run ends before an event that is known or busy");
    this.length = length;
  }
}

/** What one try works on. */
interface Try<Tx> {
  readonly claim: Claim;
  readonly arrivals: readonly StoredArrival[];
  readonly work: ApplyWork<Tx>;
  readonly limits: ApplyLimits;
}

/** What a transaction came to, before its last message. */
type Draft = { readonly kind: "applied" | "duplicate"; readonly count: number } | { readonly kind: "busy" };

/** Applies claims: handlers, their events' rows and the lane's next state in one transaction of the host's client. */
export class RunApplier<Tx> {
  readonly #pool: Pool<Tx>;
  readonly #tables: Tables;

  constructor(pool: Pool<Tx>, tables: Tables) {
    this.#pool = pool;
    this.#tables = tables;
  }

  async apply(claim: Claim, work: ApplyWork<Tx>, limits: ApplyLimits): Promise<Applied> {
    let arrivals = arrivalsOf(claim);
    for (let tries = 1; ;) {
      const applied = await this.#once({ claim, arrivals, work, limits });
      if (applied instanceof RunShortened) {
        arrivals = arrivals.slice(0, applied.length);
        continue;
      }
      const again = applied.kind === "failed" && isTransient(applied.error);
      if (!again || tries++ === MAX_TRIES || limits.signal.aborted) return applied;
      // A random wait, so that two transactions that met in a deadlock do not meet again.
      await systemClock.sleep(Math.random() * RETRY_MS * 2 ** tries, limits.signal);
    }
  }

  async #once(given: Try<Tx>): Promise<Applied | RunShortened> {
    const { claim, arrivals, limits } = given;
    const begun = { value: false };
    const startedAtMs = systemClock.now();
    let closed: Answer | undefined;
    const settle = settleRun(claim, limits, this.#tables);
    let end: TransactionEnd<Draft>;
    reach("apply.before_enter");
    try {
      // It throws only before anything has begun, so that a retry repeats nothing.
      end = await againWhenLost(() =>
        this.#pool.transaction(
          enterRun(arrivals, inboxConsumer(claim), this.#tables),
          async (scope, answer) => {
            const draft = await this.#run(scope, enteredOf(answer), { ...given, begun });
            if (draft.kind === "busy") return draft;
            await this.#recordRedriven(scope, claim, { count: draft.count, startedAtMs });
            scope.closing = settle(draft.count, scope.backend?.xid);
            scope.onClosed = (last) => (closed = last);
            reach("apply.before_settle");
            return draft;
          },
          limits,
        ),
      );
    } catch (error) {
      if (isSaturated(error)) return { kind: "saturated" };
      throw storeError(error, MIGRATE_CURE);
    }
    if (end.kind !== "committed") return this.#notCommitted(end, begun.value || limits.signal.aborted);
    const draft = end.value;
    if (draft.kind === "busy") return draft;
    reach("apply.after_commit");
    const next = closed && nextClaimOf(claim, limits.run, closed);
    return draft.kind === "duplicate"
      ? { kind: "duplicate", count: 1, next }
      : { kind: "applied", count: draft.count, next };
  }

  /** Runs the handlers of a run that was entered whole, or says why there is nothing to run. */
  async #run(
    scope: Scope<Tx>,
    entered: ReadonlyMap<string, EnteredRow>,
    { claim, arrivals, work, begun }: Try<Tx> & { readonly begun: { value: boolean } },
  ): Promise<Draft> {
    const missing = arrivals.findIndex(({ arrival }) => !entered.has(arrival.id));
    if (missing === 0 && arrivals.length === 1) return this.#known(scope, claim, arrivals);
    // The rows behind it are written as applied, and must not be committed so.
    if (missing !== -1) throw new RunShortened(Math.max(1, missing));
    const [first] = entered.values();
    if (first !== undefined) scope.backend = { pid: first.pid, xid: first.xid };
    begun.value = true;
    reach("apply.after_enter");
    const run = arrivals.map(({ delivery, arrival }) => {
      return { ...delivery, inboxRound: entered.get(arrival.id)?.round ?? 1 };
    });
    const all = await work(scope.tx, run as [EnteredDelivery]);
    for (const [n, { arrival }] of arrivals.entries()) {
      const handled: Handled = all[n] ?? { outcome: "success" };
      const ctid = entered.get(arrival.id)?.ctid ?? "";
      if (handled.outcome !== "success" || handled.result !== undefined)
        await noteHandled(scope, ctid, { handled, tables: this.#tables });
    }
    return { kind: "applied", count: arrivals.length };
  }

  /** Before the settlement, which removes the deliveries. */
  async #recordRedriven(
    scope: Scope<Tx>,
    claim: Claim,
    { count, startedAtMs }: { readonly count: number; readonly startedAtMs: number },
  ): Promise<void> {
    const durationMs = systemClock.now() - startedAtMs;
    const attempts = redrivenAttempts(claim, count, { startedAtMs, durationMs });
    if (attempts.length > 0) await scope.query(insertAttempts(claim, attempts, this.#tables));
  }

  /** Read by a statement of its own, because the first one's snapshot may be older than the row. */
  async #known(scope: Scope<Tx>, claim: Claim, [head]: readonly StoredArrival[]): Promise<Draft> {
    const known =
      head && (await readKnown(scope, head.arrival, this.#tables, { consumer: inboxConsumer(claim) }));
    return known === undefined || mayTakeOver(known.outcome)
      ? { kind: "busy" }
      : { kind: "duplicate", count: 1 };
  }

  #notCommitted(
    { kind, error }: Exclude<TransactionEnd<Draft>, { kind: "committed" }>,
    ofHandler: boolean,
  ): Applied | RunShortened {
    if (error instanceof RunShortened) return error;
    if (kind === "unknown") throw commitUnknown(error);
    const state = sqlState(error);
    if (state === STALE) return { kind: "stale" };
    if (state === LEFT) return { kind: "failed", error: transactionLeft() };
    if (ofHandler || isTransient(error)) return { kind: "failed", error };
    throw storeError(error, MIGRATE_CURE);
  }
}

function commitUnknown(cause: unknown): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_commit_unknown",
    "The connection was lost while committing. The claim is given back: the next one finds the truth in the inbox.",
    { cause },
  );
}
