import { equalBytes } from "../../../bytes.js";
import type { Clock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type { Acceptance, AcceptLimits, Arrival, Handled } from "../../../inbox/inbox-store.js";
import type { InboxFailure } from "../../../operator/inbox-view-store.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { MemoryTransaction, MemoryTx } from "../client/transaction.js";
import { appliedRow, isOver, knownOf, textOf } from "./inbox-row.js";
import type { StoredRow } from "./inbox-row.js";

/** What `accept` works on. */
export interface AcceptParts {
  readonly clock: Clock;
  readonly rows: Map<string, StoredRow>;
  /** A number for a new row, higher than all before. */
  readonly nextNumber: () => number;
  /** The events whose handlers run at this moment. */
  readonly applying: Set<string>;
  readonly begin: () => MemoryTransaction;
  /** By the text of the row's key. */
  readonly failures: Map<string, readonly InboxFailure[]>;
}

type Work<T = Handled> = (tx: MemoryTx) => Promise<T> | T;
export type Ran<T> = { readonly handled: T } | { readonly thrown: unknown };

/** Runs the handler of an event that is new, or of which nothing was applied before; its effects and the event's row are one step. */
export async function accept(
  parts: AcceptParts,
  arrival: Arrival,
  work: Work,
  { signal }: AcceptLimits,
): Promise<Acceptance> {
  const { rows, applying } = parts;
  const key = textOf(arrival);
  const row = rows.get(key);
  if (row !== undefined && isOver(row, parts.clock.now())) {
    const same = equalBytes(row.bodyHash, arrival.bodyHash);
    return { kind: same ? "duplicate" : "conflict", known: knownOf(row) };
  }
  if (applying.has(key)) return { kind: "busy" };
  applying.add(key);
  const tx = parts.begin();
  const ran = await run(work, tx, signal);
  applying.delete(key);
  if ("handled" in ran) return commit(parts, arrival, { handled: ran.handled, tx });
  tx.rollback();
  return { kind: "failed", error: ran.thrown };
}

// Nothing awaits between the handler's end and the row: effects and row are there together or not at all.
function commit(
  { clock, rows, nextNumber }: AcceptParts,
  arrival: Arrival,
  { handled, tx }: { readonly handled: Handled; readonly tx: MemoryTransaction },
): Acceptance {
  const key = textOf(arrival);
  const writing = { before: rows.get(key), nowMs: clock.now(), number: nextNumber() };
  const applied = appliedRow(arrival, handled, writing);
  rows.set(key, applied);
  commitEffects(tx);
  return { kind: "applied", attempt: applied.attempts };
}

/** Does what a transaction has gathered. */
export function commitEffects(tx: MemoryTransaction): void {
  const failure = tx.commit();
  if (failure === undefined) return;
  throw new PosthornError<StoreErrorCode>(
    "store_commit_unknown",
    `An effect of transaction ${tx.id} threw at its commit, when nothing can be rolled back; let onCommit only write.`,
    { cause: failure.thrown },
  );
}

/** Runs the handler's part, and stops waiting for it when the signal aborts. */
export async function run<T>(work: Work<T>, tx: MemoryTx, signal: AcceptLimits["signal"]): Promise<Ran<T>> {
  if (signal.aborted) return { thrown: signal.reason };
  const listening = new AbortController();
  const aborted = new Promise<Ran<T>>((resolve) => {
    const stop = (): void => resolve({ thrown: signal.reason });
    signal.addEventListener("abort", stop, { signal: listening.signal });
  });
  try {
    const done = Promise.resolve(work(tx)).then((handled): Ran<T> => ({ handled }));
    return await Promise.race([done, aborted]);
  } catch (error) {
    return { thrown: error };
  } finally {
    listening.abort();
  }
}
