import { equalBytes } from "../../../bytes.js";
import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type {
  Acceptance,
  AcceptLimits,
  Arrival,
  Handled,
  InboxKey,
  InboxRow,
  InboxStore,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../../inbox/inbox-store.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import type { Observer } from "../../../observer.js";
import { PosthornError } from "../../../posthorn-error.js";
import { appliedRow, copyOf, failedRow, knownOf, touchedRow } from "./inbox-row.js";
import type { StoredRow } from "./inbox-row.js";
import { warnInProduction } from "../client/not-durable.js";
import type { Environment } from "../client/not-durable.js";
import { MemoryTransaction } from "../client/transaction.js";
import type { MemoryTx } from "../client/transaction.js";

/** Where a memory store takes its time from, and whom it tells. */
export interface MemoryStoreOptions {
  readonly clock?: Clock;
  readonly observer?: Observer;
  /** Warns when "production". @default NODE_ENV, where the runtime has one */
  readonly environment?: Environment;
}

/** An event that was refused for good. */
export interface RefusedEvent extends Arrival {
  readonly because: RefusedBecause;
  readonly refusedAt: Date;
}

/** An inbox in this process. */
export interface MemoryStore extends InboxStore<MemoryTx, "asynchronous"> {
  /** The latest thousand conflicts and stale events, oldest first. */
  refused(): readonly RefusedEvent[];
}

// Refused events have no window of their own: a sender that repeats a conflict would fill the memory.
const REFUSED_KEPT = 1000;
const ROWS_PER_LOOK_AT_THE_CLOCK = 100;

type Ran = { readonly handled: Handled } | { readonly thrown: unknown };

class MemoryInbox implements MemoryStore {
  readonly capabilities: StoreCapabilities = Object.freeze({
    sharesHostTransaction: true,
    survivesPowerLoss: false,
    multiProcess: false,
    clock: "process",
  });
  readonly transactions = "asynchronous";
  readonly #clock: Clock;
  readonly #rows = new Map<string, StoredRow>();
  readonly #applying = new Set<string>();
  #refused: RefusedEvent[] = [];
  #transactions = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    const row = this.#rows.get(textOf(key));
    return Promise.resolve(row && knownOf(row));
  }

  read(key: InboxKey): Promise<InboxRow | undefined> {
    const row = this.#rows.get(textOf(key));
    return Promise.resolve(row && copyOf(row));
  }

  async accept(
    arrival: Arrival,
    work: (tx: MemoryTx) => Promise<Handled> | Handled,
    { signal }: AcceptLimits,
  ): Promise<Acceptance> {
    const key = textOf(arrival);
    const row = this.#rows.get(key);
    if (row !== undefined && row.outcome !== "failed") {
      const same = equalBytes(row.bodyHash, arrival.bodyHash);
      return { kind: same ? "duplicate" : "conflict", known: knownOf(row) };
    }
    if (this.#applying.has(key)) return { kind: "busy" };
    this.#applying.add(key);
    const tx = new MemoryTransaction(++this.#transactions);
    const ran = await run(work, tx, signal);
    this.#applying.delete(key);
    if ("handled" in ran) return this.#commit(arrival, ran.handled, tx);
    tx.rollback();
    return { kind: "failed", error: ran.thrown };
  }

  fail(arrival: Arrival, error: string): Promise<void> {
    const key = textOf(arrival);
    const before = this.#rows.get(key);
    if (before === undefined || before.outcome === "failed") {
      this.#rows.set(key, failedRow(arrival, error, { before, nowMs: this.#clock.now() }));
    }
    return Promise.resolve();
  }

  refuse(arrival: Arrival, because: RefusedBecause): Promise<void> {
    const { body, bodyHash } = arrival;
    const copied = { ...arrival, body: body.slice(), bodyHash: bodyHash.slice() };
    this.#refused.push({ ...copied, because, refusedAt: new Date(this.#clock.now()) });
    if (this.#refused.length >= 2 * REFUSED_KEPT) this.#refused = this.#refused.slice(-REFUSED_KEPT);
    return Promise.resolve();
  }

  refused(): readonly RefusedEvent[] {
    return this.#refused.slice(-REFUSED_KEPT);
  }

  touch(arrival: Arrival): void {
    const key = textOf(arrival);
    const row = this.#rows.get(key);
    if (row !== undefined) this.#rows.set(key, touchedRow(row, arrival, this.#clock.now()));
  }

  /** Has nothing to write: `touch` costs no statement here, so none waits. */
  flush(): Promise<void> {
    return Promise.resolve();
  }

  purge({ maxRows, deadlineMs }: PurgeLimits): Promise<PurgeReport> {
    const endsAt = this.#clock.monotonic() + deadlineMs;
    const passed = this.#passed();
    let removed = 0;
    for (const key of passed) {
      const look = removed > 0 && removed % ROWS_PER_LOOK_AT_THE_CLOCK === 0;
      if (removed >= maxRows || (look && this.#clock.monotonic() >= endsAt)) break;
      this.#rows.delete(key);
      removed++;
    }
    return Promise.resolve({ removed, more: removed < passed.length });
  }

  #passed(): string[] {
    const nowMs = this.#clock.now();
    const passed: { readonly key: string; readonly keepUntilMs: number }[] = [];
    for (const [key, { outcome, keepUntilMs }] of this.#rows) {
      // A failed event was never applied: forgotten, its next delivery would look like the first.
      if (outcome === "failed" || keepUntilMs === undefined || keepUntilMs > nowMs) continue;
      passed.push({ key, keepUntilMs });
    }
    return passed.toSorted((a, b) => a.keepUntilMs - b.keepUntilMs).map(({ key }) => key);
  }

  // Nothing awaits between the handler's end and the row: effects and row are there together or not at all.
  #commit(arrival: Arrival, handled: Handled, tx: MemoryTransaction): Acceptance {
    const key = textOf(arrival);
    const applied = appliedRow(arrival, handled, {
      before: this.#rows.get(key),
      nowMs: this.#clock.now(),
    });
    this.#rows.set(key, applied);
    const failure = tx.commit();
    if (failure === undefined) return { kind: "applied", attempt: applied.attempts };
    throw new PosthornError<StoreErrorCode>(
      "store_commit_unknown",
      `An effect of transaction ${tx.id} threw at its commit, when nothing can be rolled back; let onCommit only write.`,
      { cause: failure.thrown },
    );
  }
}

/** Runs the handler's part, and stops waiting for it when the signal aborts. */
async function run(
  work: (tx: MemoryTx) => Promise<Handled> | Handled,
  tx: MemoryTx,
  signal: AbortSignal,
): Promise<Ran> {
  if (signal.aborted) return { thrown: signal.reason };
  const listening = new AbortController();
  const aborted = new Promise<Ran>((resolve) => {
    const stop = (): void => resolve({ thrown: signal.reason });
    signal.addEventListener("abort", stop, { signal: listening.signal });
  });
  try {
    const done = Promise.resolve(work(tx)).then((handled): Ran => ({ handled }));
    return await Promise.race([done, aborted]);
  } catch (error) {
    return { thrown: error };
  } finally {
    listening.abort();
  }
}

// Joined with a separator, ("a:b", "c") and ("a", "b:c") would be one event.
function textOf({ tenant, source, id }: InboxKey): string {
  return JSON.stringify([tenant, source, id]);
}

/**
 * Makes an inbox in memory: for tests and development, and the shortest reading of what a store promises.
 *
 * @example
 * const receiver = createReceiver({ store: memoryStore(), sources, handlers });
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock = systemClock, observer, environment } = options;
  warnInProduction({ store: "memoryStore", environment, observer });
  return new MemoryInbox(clock);
}
