import type { PosthornError } from "../../../../posthorn-error.js";
import type { Parameter } from "../database.js";

/**
 * An ORM's own client, as `fromDrizzle` and the others describe it: how it opens a transaction, and how a statement runs in
 * one. `Tx` is what the ORM hands to the callback of a transaction, and what handlers get.
 */
export interface OrmClient<Tx> {
  /** The ORM's name, for messages. */
  readonly orm: string;
  /** Opens a transaction of the ORM, read committed, which ends by what comes of `work`. */
  begin(work: (tx: Tx) => Promise<void>, limits: { readonly acquireMs: number }): Promise<unknown>;
  /** Runs a statement with `$1` and so on; without `tx`, in a transaction of its own. Gives its rows, as the ORM reads them. */
  run(query: OrmQuery, tx: Tx | undefined): Promise<readonly unknown[]>;
  /** The ORM's own word on whether this is a transaction that is open. */
  isOpen(tx: Tx): boolean;
  /** Writes what the ORM holds back until the commit. */
  flush?(tx: Tx): Promise<void>;
  /**
   * Has the statements of the handler judged before they are sent; `judge` throws for those that must not be. Gives what the
   * handler gets, and what is to be done before the ORM ends the transaction itself.
   */
  guard?(tx: Tx, judge: Judge): { readonly tx: Tx; readonly release?: () => void };
}

/** A statement of Posthorn's own. */
export interface OrmQuery {
  readonly text: string;
  readonly params: readonly Parameter[];
  /** Several statements, whose rows nobody reads. */
  readonly script: boolean;
}

/** Says whether a statement of the handler may be sent: throws where it may not. */
export interface Judge {
  (text: string): void;
  /** What the call of a method that ends the transaction comes to. */
  readonly owned: (method: string) => PosthornError;
}
