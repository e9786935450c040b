import type { Receipt } from "../receipt.js";

/** An event on its way out: checked, complete, its body as the bytes that will be sent. */
export interface OutgoingEvent {
  /** Visible ASCII without a full stop; the same in every delivery of it. */
  readonly id: string;
  /** Whether the caller gave the id, and expects that a second event of this id is not sent again. */
  readonly idGiven: boolean;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  /** Events of one key are delivered in order. */
  readonly key: string | undefined;
  readonly body: Uint8Array;
  /** SHA-256 of type and body, without a time that the caller did not give; only where the id was given. */
  readonly contentHash: Uint8Array | undefined;
  readonly contentType: string;
  /** Sent with each delivery, their names in lower case; undefined where there are none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where it came from; undefined where it was published here. */
  readonly origin?: EventOrigin | undefined;
  /** The id of the event that caused it. */
  readonly causedBy?: string | undefined;
  /** Of an event that was stored for handlers: it goes to them, and to no endpoint. */
  readonly receipt?: Receipt | undefined;
  /** When it happened. */
  readonly time: Date;
  /** Not before; it takes its place in its lanes then. */
  readonly deliverAt: Date | undefined;
  /** Not after; what has not been sent by then is cancelled. */
  readonly expiresAt: Date | undefined;
}

/** What is known of how an event came in. */
export interface EventOrigin {
  /** The id that the provider gave it. */
  readonly providerId: string | undefined;
  /** The key that verified its signature. */
  readonly verifiedBy: string | undefined;
}

/** Whether an event came from elsewhere, or was published here. */
export function directionOf({ origin, receipt }: Pick<OutgoingEvent, "origin" | "receipt">): "in" | "out" {
  return origin === undefined && receipt === undefined ? "out" : "in";
}

/** Whether an event was stored for handlers: they alone match it, and no endpoint does. */
export function isStored({ receipt }: Pick<OutgoingEvent, "receipt">): boolean {
  return receipt !== undefined;
}
