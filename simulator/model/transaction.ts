import type { StoreErrorCode } from "../../library/src/store-errors.js";
import { PosthornError } from "../../library/src/posthorn-error.js";
import type { EventRow } from "./rows.js";

/** A transaction of the model store: what it will write, until it ends. */
export class ModelTx {
  /** How often the database had lost power when it began: after another time it is gone. */
  readonly powerLosses: number;
  readonly events: EventRow[] = [];
  readonly host: string[] = [];
  #open = true;

  constructor(powerLosses: number) {
    this.powerLosses = powerLosses;
  }

  /** Throws once it has ended: a handler that was cut off at its deadline may still be running. */
  mustBeOpen(): void {
    if (this.#open) return;
    throw new PosthornError<StoreErrorCode>("store_transaction_finished", "The transaction has ended.");
  }

  end(): void {
    this.#open = false;
  }
}
