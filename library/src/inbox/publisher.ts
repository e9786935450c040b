/** An event that a handler publishes in its own transaction. */
export interface Publication {
  readonly type: string;
  /** Sent as JSON; give `body` instead to send exact bytes. */
  readonly data?: unknown;
  readonly body?: Uint8Array;
  /** Events of one key are delivered in order. */
  readonly key?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly deliverAt?: Date;
  readonly expiresAt?: Date;
}

/** All that the inbox knows of an outbox: it can write events into a transaction of the host. */
export interface Publisher<Tx> {
  /** Returns without a promise where transactions are synchronous. */
  publish(events: Publication | readonly Publication[], options: { readonly tx: Tx }): unknown;
}
