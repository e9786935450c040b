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
} from "../../library/src/inbox/inbox-store.js";
import { Touches } from "../../library/src/inbox/touches.js";
import type { OutboxErrorCode } from "../../library/src/outbox/outbox-errors.js";
import { PosthornError } from "../../library/src/posthorn-error.js";
import type { StoreCapabilities } from "../../library/src/store-capabilities.js";
import type { CancelledRecord } from "../../library/src/testing/conformance/outbox/harness.js";
import { inboxKeyOf, isPast, knownBefore, knownOf, purge, rowOf, touch, writeArrival } from "./inbox.js";
import type { Model } from "./model.js";
import { MODEL_CAPABILITIES, ModelOutbox } from "./outbox.js";
import { copyRows, noRows } from "./rows.js";
import { RIGHT_RULES } from "./rules.js";
import type { ModelRules } from "./rules.js";
import { judge, stage } from "./sequence.js";
import { ModelTx } from "./transaction.js";
import type { SimulatedStore, StoreParts } from "../world/simulated-store.js";

/**
 * A database that is a few maps: what every store promises, in the fewest words, with all of its state as plain data
 * that can be copied and put back.
 */
export class ModelStore implements SimulatedStore<ModelTx>, InboxStore<ModelTx, "asynchronous"> {
  readonly capabilities: StoreCapabilities = MODEL_CAPABILITIES;
  readonly transactions = "asynchronous";
  readonly outbox: ModelOutbox;
  readonly #model: Model;
  readonly #applying = new Map<string, ModelTx>();
  #touches = new Touches();
  #powerLosses = 0;

  constructor({ clock, batch }: StoreParts, rules: ModelRules = RIGHT_RULES) {
    this.#model = { rows: noRows(), rules, clock };
    this.outbox = new ModelOutbox(this.#model, batch);
  }

  get inbox(): this {
    return this;
  }

  begin(): ModelTx {
    return new ModelTx(this.#powerLosses);
  }

  rollback(tx: ModelTx): void {
    tx.end();
  }

  commit(tx: ModelTx): void {
    tx.mustBeOpen();
    tx.end();
    if (tx.powerLosses !== this.#powerLosses)
      throw new Error("The server that held the transaction is gone.");
    const { rows } = this.#model;
    // Another transaction may have committed the same id since this one looked.
    const verdicts = judge(this.#model, tx.events);
    if (verdicts.includes("conflict")) throw conflict();
    stage(
      this.#model,
      tx.events.filter((_, index) => verdicts[index] === "written"),
    );
    for (const row of tx.host) rows.host.set(row, (rows.host.get(row) ?? 0) + 1);
  }

  write(tx: ModelTx, row: string): void {
    tx.mustBeOpen();
    tx.host.push(row);
  }

  written(): ReadonlyMap<string, number> {
    return this.#model.rows.host;
  }

  cancelled(): readonly CancelledRecord[] {
    return this.#model.rows.cancelled;
  }

  isPassedOver(deliveryId: string): Promise<boolean> {
    return Promise.resolve(this.#model.rows.dead.get(deliveryId)?.skipped === true);
  }

  unplaced(): number {
    return this.#model.rows.stage.length;
  }

  snapshot(): () => void {
    const kept = copyRows(this.#model.rows);
    return () => {
      this.#powerLosses += 1;
      this.#applying.clear();
      this.#touches = new Touches();
      this.#model.rows = kept;
    };
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    const { rows, clock } = this.#model;
    const line = rows.inbox.get(inboxKeyOf(key));
    return Promise.resolve(line === undefined || isPast(line, clock.now()) ? undefined : knownOf(line));
  }

  read(key: InboxKey): Promise<InboxRow | undefined> {
    const line = this.#model.rows.inbox.get(inboxKeyOf(key));
    return Promise.resolve(line && rowOf(line));
  }

  async accept(
    arrival: Arrival,
    work: (tx: ModelTx) => Promise<Handled> | Handled,
    { signal }: AcceptLimits,
  ): Promise<Acceptance> {
    const known = knownBefore(this.#model, arrival);
    if (known !== undefined) return known;
    const { locks, marksAt } = this.#model.rules;
    const key = inboxKeyOf(arrival);
    if (locks && this.#applying.has(key)) return { kind: "busy" };
    const tx = this.begin();
    this.#applying.set(key, tx);
    if (marksAt === "begin") writeArrival(this.#model, arrival, { outcome: "success" });
    try {
      const handled = await untilAborted(work(tx), signal);
      this.commit(tx);
      const { outcome, result, because } = handled;
      return {
        kind: "applied",
        attempt: writeArrival(this.#model, arrival, { outcome, result, error: because }),
      };
    } catch (error) {
      tx.end();
      return { kind: "failed", error };
    } finally {
      if (this.#applying.get(key) === tx) this.#applying.delete(key);
    }
  }

  fail(arrival: Arrival, error: string): Promise<void> {
    const { rows, clock } = this.#model;
    const before = rows.inbox.get(inboxKeyOf(arrival));
    if (before === undefined || before.outcome !== "success" || isPast(before, clock.now())) {
      writeArrival(this.#model, arrival, { outcome: "failed", error });
    }
    return Promise.resolve();
  }

  /** Refused events are of no consequence to what is simulated. */
  refuse(): Promise<void> {
    return Promise.resolve();
  }

  touch(arrival: Arrival): void {
    touch(this.#model, this.#touches, arrival);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  purge({ maxRows }: PurgeLimits): Promise<PurgeReport> {
    const removed = purge(this.#model, maxRows);
    return Promise.resolve({ removed, more: removed === maxRows });
  }
}

/** Stops waiting when the signal aborts. */
function untilAborted<T>(work: Promise<T> | T, signal: AcceptLimits["signal"]): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      const { reason } = signal as { readonly reason?: unknown };
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    // Listened to even after the abort: a late rejection must not count as unhandled.
    Promise.resolve(work).then(resolve, reject);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
  });
}

function conflict(): PosthornError<OutboxErrorCode> {
  return new PosthornError(
    "id_conflict",
    "Another transaction has committed one of its ids with another body.",
  );
}
