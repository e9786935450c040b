import type { RunLog } from "./run-log.js";
import type { Scheduler } from "./scheduler.js";
import type { SimulatedStore } from "./simulated-store.js";

export interface DatabaseParts {
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  /** A planted bug: what is answered may be lost with the power. */
  readonly answersBeforeSync: (call: string) => boolean;
}

interface Answer {
  readonly deliver: () => void;
  /** When the power goes before it could be given. */
  readonly lose: () => void;
}

/** A database server of a run: it can be down, and it can lose what it had not yet brought to its disk. */
export class Database {
  readonly index: number;
  readonly store: SimulatedStore;
  readonly #scheduler: Scheduler;
  readonly #log: RunLog;
  readonly #answersBeforeSync: (call: string) => boolean;
  readonly #atLoss = new Set<() => void>();
  #down = 0;
  // While the disk is behind, answers are kept back: a commit is acknowledged when it is durable.
  #withheld: Answer[] | undefined;

  constructor(index: number, store: SimulatedStore, { scheduler, log, answersBeforeSync }: DatabaseParts) {
    this.index = index;
    this.store = store;
    this.#scheduler = scheduler;
    this.#log = log;
    this.#answersBeforeSync = answersBeforeSync;
  }

  get isUp(): boolean {
    return this.#down === 0;
  }

  /** Sends an answer on its way, or keeps it back until what it tells is durable. */
  answer(call: string, { deliver, lose }: Answer): void {
    if (this.#withheld === undefined || this.#answersBeforeSync(call)) deliver();
    else this.#withheld.push({ deliver, lose });
  }

  /** Whether the disk is behind at this moment. */
  get isBehind(): boolean {
    return this.#withheld !== undefined;
  }

  /** For a connection whose transaction ends with the power. */
  whenPowerGoes(action: () => void): void {
    this.#atLoss.add(action);
  }

  /** From now on nothing reaches the disk; then the power goes, and comes back. */
  losePower(unsyncedMs: number, forMs: number): void {
    if (this.#withheld !== undefined || !this.isUp) return;
    const bringBack = this.store.snapshot?.();
    const since = this.#log.records.length;
    this.#withheld = [];
    this.#scheduler.after(unsyncedMs, () => {
      const lost = this.#withheld ?? [];
      this.#withheld = undefined;
      this.#down += 1;
      for (const action of this.#atLoss) action();
      this.#atLoss.clear();
      // What brings it back, and every transaction that ended, has its turn before anything else happens.
      this.#scheduler.woke();
      void bringBack?.();
      if (bringBack !== undefined) this.#log.lose(this.index, since);
      this.#log.fault("power");
      if (lost.length > 0) this.#log.count("power.answers_lost", lost.length);
      for (const { lose } of lost) lose();
      this.#scheduler.after(forMs, () => (this.#down -= 1));
    });
  }
}
