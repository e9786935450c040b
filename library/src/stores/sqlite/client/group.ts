import { reach } from "#faults";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { SqliteClient } from "./client.js";
import { refusalOf } from "./failure.js";

/** One caller's part of a group. */
export interface Part {
  readonly run: () => unknown;
  /** Whether it takes more than one statement, so that what it wrote before it threw must be undone. */
  readonly undoable: boolean;
  /**
   * Whether its throw undoes the whole group, of which the others then run again: for what throws only when the disk
   * does. For a savepoint, SQLite copies every page that a part touches, soon into a file: twice the cost of the writing.
   */
  readonly undoesAll?: boolean | undefined;
}

/** What one part came to, inside the transaction. */
export type PartOutcome =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown };

/** What a group came to. `outcomes` are those of the parts that ran, in their order. */
export type GroupEnd =
  /** The transaction could not begin, because somebody else has one. Nothing ran. */
  | { readonly kind: "locked" }
  /** What returned is committed, what threw is undone. */
  | { readonly kind: "committed"; readonly outcomes: readonly PartOutcome[] }
  /** The last of the outcomes is of a part that ended the transaction of all, or undoes all; everything is undone. */
  | { readonly kind: "broken"; readonly outcomes: readonly PartOutcome[] }
  /** The commit was refused; everything is undone. */
  | { readonly kind: "refused"; readonly outcomes: readonly PartOutcome[]; readonly error: unknown };

export interface GroupLimits {
  /** Whether parts run code of the host, which could end the transaction. */
  readonly guarded: boolean;
  /** True when no further part should begin in this transaction. */
  readonly isOver: () => boolean;
}

/** Runs parts in one transaction, from begin to commit without awaiting. Throws when it could not begin for another reason than a lock. */
export function runGroup(client: SqliteClient, parts: readonly Part[], limits: GroupLimits): GroupEnd {
  if (!begin(client, limits.guarded)) return { kind: "locked" };
  const outcomes: PartOutcome[] = [];
  for (const part of parts) {
    const { outcome, intact } = runPart(client, part);
    outcomes.push(outcome);
    if (!intact) {
      client.rollBack();
      return { kind: "broken", outcomes };
    }
    if (limits.isOver()) break;
  }
  try {
    if (limits.guarded) allowCommit(client);
    reach(limits.guarded ? "accept.before_commit" : "write.before_commit");
    client.exec("commit");
    reach(limits.guarded ? "accept.after_commit" : "write.after_commit");
    return { kind: "committed", outcomes };
  } catch (error) {
    client.rollBack();
    return { kind: "refused", outcomes, error };
  }
}

function begin(client: SqliteClient, guarded: boolean): boolean {
  // A transaction of the host: our rows must not vanish with its rollback, and it must not be committed by us.
  if (client.inTransaction) return false;
  try {
    // Deferred, it would ask for the write lock at its first write, where SQLite can refuse without waiting.
    reach(guarded ? "accept.before_begin" : "write.before_begin");
    client.exec("begin immediate");
    client.endStretch();
    reach(guarded ? "accept.after_begin" : "write.after_begin");
    if (guarded) forbidCommit(client);
    return true;
  } catch (error) {
    client.rollBack();
    if (refusalOf(error) === "locked") return false;
    throw error;
  }
}

// A handler that runs `commit` would make half of its own work and all of its neighbours' final. While this row
// points at one that does not exist, SQLite refuses every commit; where the host has turned foreign keys off,
// the end of the transaction is noticed after the handler instead.
function forbidCommit(client: SqliteClient): void {
  // `or replace`: without foreign keys, a handler's commit has left the row behind.
  client.run("insert or replace into posthorn_guard (id, waits_for) values (1, 2)");
  reach("accept.after_guard");
}

function allowCommit(client: SqliteClient): void {
  reach("accept.before_unguard");
  client.run("delete from posthorn_guard where id = 1");
}

interface PartEnd {
  readonly outcome: PartOutcome;
  /** Whether the others' work still stands. */
  readonly intact: boolean;
}

function runPart(client: SqliteClient, { run, undoable, undoesAll = false }: Part): PartEnd {
  const saved = undoable && !undoesAll;
  if (saved) client.run("savepoint posthorn_part");
  const outcome = outcomeOf(run);
  if (!undoesAll) client.endStretch();
  // The part ran `rollback`, or SQLite did: a full disk, for one, can end the whole transaction.
  if (!client.inTransaction) return { outcome: endedBy(outcome), intact: false };
  if (!saved) return { outcome, intact: !undoesAll || outcome.kind === "returned" };
  try {
    if (outcome.kind === "threw") undo(client);
    client.run("release posthorn_part");
    return { outcome, intact: true };
  } catch {
    // The savepoint is gone: the part ended the transaction and began another.
    return { outcome: endedBy(outcome), intact: false };
  }
}

function undo(client: SqliteClient): void {
  reach("accept.before_rollback");
  client.run("rollback to posthorn_part");
  reach("accept.after_rollback");
}

function outcomeOf(run: () => unknown): PartOutcome {
  try {
    return { kind: "returned", value: run() };
  } catch (error) {
    return { kind: "threw", error };
  }
}

function endedBy(outcome: PartOutcome): PartOutcome {
  if (outcome.kind === "threw") return outcome;
  const error = new PosthornError<StoreErrorCode>(
    "store_transaction_aborted",
    "The transaction did not outlive the handler: it ran commit, rollback or begin on the handle, left an iterator open, or " +
      "swallowed an error with which SQLite rolls everything back. Leave the transaction to Posthorn, and let such errors through.",
  );
  return { kind: "threw", error };
}
