/** An event that the host publishes. */
export interface Publication {
  readonly type: string;
  /** Sent as the JSON of `{ type, timestamp, data }`; give `body` instead to send exact bytes. */
  readonly data?: unknown;
  readonly body?: Uint8Array;
  /** Of `body`. @default "application/json" */
  readonly contentType?: string;
  /** Sent with each delivery, and never in place of a header that signs it. Up to 64, and 8 KiB in all. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Events of one key are delivered in order. */
  readonly key?: string;
  /** Publishing the same id again sends nothing; with another type or body it is an error. @default a new one */
  readonly id?: string;
  /** @default "default" */
  readonly tenant?: string;
  /** What endpoints' source patterns are matched with. @default "app" */
  readonly source?: string;
  /** When it happened. @default now */
  readonly time?: Date;
  /** Not before; it takes its place among the events of its key then. */
  readonly deliverAt?: Date;
  /** Not after; what has not been sent by then is cancelled. */
  readonly expiresAt?: Date;
}
