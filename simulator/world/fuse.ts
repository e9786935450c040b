import type { StopSignal } from "../../library/src/stop-signal.js";

/** A signal that costs a tenth of the platform's: a run makes hundreds of them. */
export class Fuse {
  readonly #listeners = new Set<() => void>();
  aborted = false;
  reason: unknown;

  get signal(): StopSignal {
    return this as unknown as StopSignal;
  }

  blow(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
