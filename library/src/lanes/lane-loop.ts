import type { Clock } from "../clock.js";
import { newId } from "../id.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import { storeFailed } from "../store-failed.js";
import { WorkLoop } from "../work/work-loop.js";
import type { LoopLimits, WorkPort } from "../work/work-loop.js";
import type { Claimable, LaneStore } from "./lane-store.js";
import { Sequencing } from "./sequencing.js";

/** What a dispatcher and a worker do each in its own way: claim, run and settle. */
export type LaneWork<Held, Result> = Pick<WorkPort<Held, Result>, "claim" | "run" | "settle" | "release">;

export interface LaneLoopParts<Held extends object, Result> {
  readonly store: Pick<LaneStore, "sequence" | "untilDue" | "wake">;
  /** Whose lanes are worked on. */
  readonly of: Claimable;
  readonly work: LaneWork<Held, Result>;
  readonly limits: LoopLimits;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  /** Called when events were sequenced, or something else may be due. */
  readonly onNews?: () => void;
}

/**
 * One run of a dispatcher or a worker, from its start to its stop: gives committed events their places, and claims, runs and
 * settles what is due.
 */
export class LaneLoop<Held extends object, Result> {
  /** The name under which the run holds leases: unique to this start of this process. */
  readonly worker: string;
  readonly #parts: LaneLoopParts<Held, Result>;
  readonly #loop: WorkLoop<Held, Result>;
  readonly #sequencing: Sequencing;
  readonly #unlisten: () => void;
  /** Aborts when the run is over, so that no timer outlives it. */
  readonly #over = new AbortController();
  #stopping = false;

  constructor(parts: LaneLoopParts<Held, Result>) {
    this.#parts = parts;
    const { store, work, limits, clock, onNews } = parts;
    this.worker = newId("wrk", clock.now());
    const failed = (operation: string, error: unknown): void => this.failed(operation, error);
    this.#loop = new WorkLoop({ ...work, untilDue: () => this.#untilDue(), failed }, limits, clock);
    this.#sequencing = new Sequencing({
      store,
      clock,
      pollMs: limits.pollMs,
      onWork: () => {
        onNews?.();
        this.#loop.hint();
      },
      failed,
    });
    this.#unlisten = store.wake.listen((hint) => this.#sequencing.hint(hint));
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Whether something may be due for which no slot is free. */
  get isContended(): boolean {
    return this.#loop.isContended;
  }

  /** Works until `stop`. */
  async untilStopped(): Promise<void> {
    try {
      await Promise.all([this.#sequencing.run(), this.#loop.run()]);
    } finally {
      this.#end();
    }
  }

  /** Works on what is due now. True when it was stopped before its end. */
  async drain(): Promise<boolean> {
    try {
      while (await this.#sequencing.once()) if (this.#stopping) break;
      await this.#loop.run({ once: true });
    } finally {
      this.#end();
    }
    return this.#stopping;
  }

  /** Nothing more is claimed; what is under way is finished. */
  stop(): void {
    this.#stopping = true;
    this.#sequencing.stop();
    this.#loop.stop();
  }

  /** Calls back after a time, unless the run is over by then. */
  after(ms: number, then: () => void): void {
    const { signal } = this.#over;
    void this.#parts.clock.sleep(ms, signal).then(() => (signal.aborted ? undefined : then()));
  }

  /** The store did not do what it was asked; the loop goes on. */
  failed(operation: string, error: unknown): void {
    notify(this.#parts.observer, storeFailed(operation, error));
  }

  async #untilDue(): Promise<number | undefined> {
    const { store, of } = this.#parts;
    const dueMs = await store.untilDue(of);
    // What is due may be an event whose `deliverAt` has come, and which has no place yet.
    if (dueMs !== undefined && dueMs <= 0) this.#sequencing.look();
    return dueMs;
  }

  #end(): void {
    this.#over.abort("done");
    this.#unlisten();
  }
}
