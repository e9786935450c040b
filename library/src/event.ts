/** The place of an event in its lane: one endpoint × one key. Sequences compare only within one generation. */
export interface LanePosition {
  /** Grows when the lane is recreated or a backup is restored. */
  readonly generation: bigint;
  readonly key: string;
  readonly sequence: bigint;
  /** The last sequence that was not skipped; undefined where the lane starts here. */
  readonly after: bigint | undefined;
}

/** What Posthorn's sender says about a delivery beyond Standard Webhooks, signed. See spec/wire-format.md. */
export interface Stamp {
  /** Undefined for an event without a key. */
  readonly lane?: LanePosition | undefined;
  /** When the event happened; the standard timestamp is that of the attempt. */
  readonly time?: Date | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** True when a past event is delivered again on an operator's word. */
  readonly replay: boolean;
}

/** A name under which an event may have come before: its sender's id, or a hash of its content. */
export interface IncomingName {
  /** Visible ASCII and spaces, up to 323 bytes; unique within a tenant, so that it has to begin with its source. */
  readonly name: string;
  /** What must be the same when the name comes again; undefined where another body is no conflict. */
  readonly bodyHash: Uint8Array | undefined;
  /** False where its window counts from the first receipt, and no duplicate starts it again. @default true */
  readonly renews?: boolean;
}

/** One event of a verified request. */
export interface Event {
  /** The provider's id, the same on every redelivery; undefined where it sends none. */
  readonly id: string | undefined;
  /** Where it came from: the scheme's name, until a receiver names its source. */
  readonly source: string;
  /** The provider's event type; "unknown" where it sends none. */
  readonly type: string;
  /** When it happened, by the provider's word. */
  readonly time: Date | undefined;
  /** Its place in a lane, when it came from a Posthorn sender and the stamp was signed. */
  readonly stamp: Stamp | undefined;
  /** The exact bytes: the whole body, or this event's slice of it where a request carries many. */
  readonly body: Uint8Array;
}
