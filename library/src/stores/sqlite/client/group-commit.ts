import type { Clock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { SqliteClient } from "./client.js";
import type { DurabilityKeeper } from "./durability.js";
import { refusalOf } from "./failure.js";
import { runGroup } from "./group.js";
import type { GroupEnd, Part, PartOutcome } from "./group.js";
import { LOCK_WAIT_MS } from "./options.js";

/** One caller's wish to write. */
export interface Write<T> {
  /**
   * Runs inside the group's transaction, without awaiting. What it throws undoes its own writes and nobody
   * else's. It may run a second time, after the first was rolled back because of a neighbour.
   */
  readonly run: () => T;
  /** Whether it takes more than one statement. */
  readonly undoable: boolean;
  /** Whether its throw may undo its neighbours' writes too, which are then run again. @default false */
  readonly undoesAll?: boolean;
  /** How long it may wait for the write lock. */
  readonly waitMs: number;
  /** What it comes to when the lock was not to be had in that time: a value, or a throw. */
  readonly expired: () => T;
}

interface Waiting extends Part {
  readonly expired: () => unknown;
  readonly deadlineAt: number;
  /** Shares its transaction with nobody: it was rolled back with its neighbours before. */
  alone: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitParts {
  readonly client: SqliteClient;
  readonly durability: DurabilityKeeper;
  readonly clock: Clock;
  /** Whether writes run code of the host. */
  readonly guarded: boolean;
  /** From 0 up to 1. */
  readonly random: () => number;
}

// Enough for the cost of a commit to vanish among them, and few enough for the event loop to get its turn.
const MOST_PER_GROUP = 200;
const LONGEST_GROUP_MS = 5;
const MOST_TURNS = 4;
// How many new callers make one more turn worth waiting for: for one or two, a caller would wait four turns of a busy
// event loop.
const WORTH_A_TURN = 8;
const BACKOFF_MS = [1, 2, 5, 10, 20, 50];

/**
 * Lets the callers of one turn of the event loop share one transaction, so that they share one wait for the
 * disk; each learns its own result after the commit. No transaction is ever open while anybody awaits.
 */
export class GroupCommit {
  readonly #parts: GroupCommitParts;
  #queue: Waiting[] = [];
  #scheduled = false;
  #refusals = 0;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
  }

  /** Runs a write in the next group, and resolves with its value once that is committed. */
  join<T>({ run, undoable, undoesAll, waitMs, expired }: Write<T>): Promise<T> {
    const deadlineAt = this.#parts.clock.monotonic() + waitMs;
    return new Promise<unknown>((resolve, reject) => {
      const waiting = { run, undoable, undoesAll, expired, deadlineAt, alone: false, resolve, reject };
      this.#queue.push(waiting);
      this.#schedule();
    }) as Promise<T>;
  }

  // After everything that is ready to run: all requests that have arrived by then share the group.
  #schedule(): void {
    if (this.#scheduled || this.#queue.length === 0) return;
    this.#scheduled = true;
    this.#gather(MOST_TURNS);
  }

  // Waits on while each turn of the event loop brings many more callers: one shared wait for the disk saves more than the
  // turn costs.
  #gather(turns: number): void {
    const before = this.#queue.length;
    setImmediate(() => {
      const after = this.#queue.length;
      const worthIt = after >= before + WORTH_A_TURN && after < MOST_PER_GROUP;
      if (worthIt && turns > 1) this.#gather(turns - 1);
      else this.#flush();
    });
  }

  #flush(): void {
    this.#scheduled = false;
    const group = this.#take();
    if (group.length === 0) return;
    try {
      this.#settle(
        group,
        this.#parts.client.withLockWait(LOCK_WAIT_MS, () => this.#run(group)),
      );
    } catch (error) {
      // Read-only, closed, broken: it never began, and trying again would not help.
      if (refusalOf(error) === "locked") this.#settle(group, { kind: "locked" });
      else for (const each of group) each.reject(error);
    }
    this.#schedule();
  }

  #take(): Waiting[] {
    const firstAlone = this.#queue.findIndex(({ alone }) => alone);
    const size =
      firstAlone === 0 ? 1 : firstAlone === -1 ? MOST_PER_GROUP : Math.min(firstAlone, MOST_PER_GROUP);
    return this.#queue.splice(0, size);
  }

  #run(group: readonly Waiting[]): GroupEnd {
    const { client, durability, clock, guarded } = this.#parts;
    // Whichever group it was of: where events are stored first, no handler may run before the others have written.
    if (client.unended) client.rollBack();
    if (!durability.keep()) return { kind: "locked" };
    const endsAt = clock.monotonic() + LONGEST_GROUP_MS;
    return runGroup(client, group, { guarded, isOver: () => clock.monotonic() >= endsAt });
  }

  #settle(group: readonly Waiting[], end: GroupEnd): void {
    if (end.kind === "locked") return this.#wait(group);
    this.#refusals = 0;
    const { outcomes } = end;
    // What the group had no time for comes first in the next one.
    this.#queue.unshift(...group.slice(outcomes.length));
    const ran = group.slice(0, outcomes.length);
    switch (end.kind) {
      case "committed":
        return ran.forEach((each, index) => answer(each, outcomes[index]));
      case "broken":
        return this.#again(ran, outcomes);
      case "refused":
        return this.#refused(ran, outcomes, end.error);
    }
  }

  /** Those that threw have their answer; the others run again, each in a transaction of its own. */
  #again(ran: readonly Waiting[], outcomes: readonly PartOutcome[]): void {
    const rolledBack: Waiting[] = [];
    ran.forEach((each, index) => {
      if (outcomes[index]?.kind === "threw") return answer(each, outcomes[index]);
      each.alone = true;
      rolledBack.push(each);
    });
    this.#queue.unshift(...rolledBack);
  }

  #refused(ran: readonly Waiting[], outcomes: readonly PartOutcome[], error: unknown): void {
    const refusal = refusalOf(error);
    if (refusal === "locked") return this.#wait(ran);
    // One of them may be the only cause: a deferred constraint, or a body that no longer fits on the disk.
    if (ran.length > 1 && refusal !== "io") return this.#again(ran, outcomes);
    const reason = refusal === "io" ? commitUnknown(error) : error;
    ran.forEach((each, index) => {
      const outcome = outcomes[index];
      if (outcome?.kind === "threw") answer(each, outcome);
      else each.reject(reason);
    });
  }

  /** Puts callers back and tries again later, except those whose time is over. */
  #wait(group: readonly Waiting[]): void {
    this.#queue.unshift(...group);
    const now = this.#parts.clock.monotonic();
    const over = this.#queue.filter(({ deadlineAt }) => deadlineAt <= now);
    this.#queue = this.#queue.filter(({ deadlineAt }) => deadlineAt > now);
    for (const each of over) expire(each);
    if (this.#queue.length === 0) return;
    const step = BACKOFF_MS[Math.min(this.#refusals++, BACKOFF_MS.length - 1)] ?? 0;
    // Two processes that wait by the same steps would meet at the lock again and again.
    const jitteredMs = step * (0.5 + this.#parts.random());
    const firstDeadlineAt = this.#queue.reduce(
      (first, { deadlineAt }) => Math.min(first, deadlineAt),
      Infinity,
    );
    this.#scheduled = true;
    void this.#parts.clock.sleep(Math.min(jitteredMs, firstDeadlineAt - now)).then(() => this.#flush());
  }
}

function answer(each: Waiting, outcome: PartOutcome | undefined): void {
  if (outcome?.kind === "returned") each.resolve(outcome.value);
  else each.reject(outcome?.error);
}

function expire(each: Waiting): void {
  try {
    each.resolve(each.expired());
  } catch (error) {
    each.reject(error);
  }
}

function commitUnknown(cause: unknown): PosthornError<StoreErrorCode> {
  const found = cause instanceof Error ? cause.message : String(cause);
  return new PosthornError(
    "store_commit_unknown",
    `The disk failed while committing (${found}): whether it holds is known at the event's next delivery.`,
    { cause },
  );
}
