/**
 * What a store promises beyond the port's words, declared and tested: a case of the conformance kit that
 * needs a capability is run exactly where the store claims it.
 */
export interface StoreCapabilities {
  /** The handler's writes, the event's row and what the handler publishes commit together or not at all. */
  readonly sharesHostTransaction: boolean;
  /** An answered event is still there after the machine lost power. */
  readonly survivesPowerLoss: boolean;
  /** Several processes may use one store at once. */
  readonly multiProcess: boolean;
  /** Whose clock decides when a row expires. */
  readonly clock: "store" | "process";
}

/** Whether code of the host may await inside of a transaction; on SQLite it may not. */
export type TransactionMode = "asynchronous" | "synchronous";
