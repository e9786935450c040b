import type { Publication } from "../publication.js";

/** All that the inbox knows of an outbox: it can write events into a transaction of the host. */
export interface Publisher<Tx> {
  /** Returns without a promise where transactions are synchronous. */
  publish(events: Publication | readonly Publication[], options: { readonly tx: Tx }): unknown;
}
