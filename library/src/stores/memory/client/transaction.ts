import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";

/** What a handler gets as `tx` on the memory store. */
export interface MemoryTx {
  readonly id: number;
  /** Remembers a write to be done when the transaction commits; a rollback forgets it. It must not throw. */
  onCommit(effect: () => void): void;
}

/** One transaction: effects gathered, then all done, or all forgotten. */
export class MemoryTransaction implements MemoryTx {
  readonly id: number;
  readonly #effects: (() => void)[] = [];
  readonly #ends: ((isCommitted: boolean) => void)[] = [];
  /** Kept when it has committed or rolled back. */
  readonly ended: Promise<void>;
  #open = true;

  constructor(id: number) {
    this.id = id;
    this.ended = new Promise((resolve) => this.#ends.push(() => resolve()));
  }

  onCommit(effect: () => void): void {
    this.#mustBeOpen("onCommit");
    this.#effects.push(effect);
  }

  /** Called when it has committed or rolled back; what it holds is to be let go then. */
  onEnd(done: (isCommitted: boolean) => void): void {
    this.#mustBeOpen("newest");
    this.#ends.unshift(done);
  }

  #mustBeOpen(verb: string): void {
    // A handler that was cut off at its deadline may still be running; its late writes must not land.
    if (!this.#open) {
      throw new PosthornError<StoreErrorCode>(
        "store_transaction_finished",
        `${verb} was called on transaction ${this.id} after its end; await everything that the handler does.`,
      );
    }
  }

  /** Forgets the effects. */
  rollback(): void {
    this.#open = false;
    for (const done of this.#ends.splice(0)) done(false);
  }

  /** Does every effect, also those after one that throws, and returns the first error. */
  commit(): { readonly thrown: unknown } | undefined {
    this.#open = false;
    let failure: { readonly thrown: unknown } | undefined;
    for (const effect of this.#effects) {
      try {
        effect();
      } catch (error) {
        failure ??= { thrown: error };
      }
    }
    for (const done of this.#ends.splice(0)) done(true);
    return failure;
  }
}
