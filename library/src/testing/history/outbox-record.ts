import type { EventName, SeenBytes, Why } from "./seen.js";

/** Where a delivery stands in its lane. Sequences are decimals, because they outgrow numbers. */
export interface SeenPlace {
  readonly key: string;
  readonly generation: string;
  readonly sequence: string;
}

/** What can be told of events on their way out. `EventName.id` is whatever names the event to everybody, its publisher included. */
export interface OutboxOperations {
  /** An endpoint, as the run has made it. */
  readonly endpoint: {
    readonly ok: {
      readonly endpoint: string;
      /** What a dead delivery does to its lane. */
      readonly dead: "halt" | "skip" | "park";
      /** How many failures end a round. */
      readonly maxAttempts: number;
      /** The shortest wait after a failure. */
      readonly leastWaitMs: number;
    };
  };
  /** One publication, as its caller saw it. `fail`: its transaction has certainly not committed. */
  readonly publish: {
    readonly invoke: EventName &
      SeenBytes & {
        /** Where it is to arrive. */
        readonly endpoints: readonly string[];
        /** Whether a business row is written in the same transaction. */
        readonly beside: boolean;
        /** It takes its place at a time of its own, not when it is published. */
        readonly later?: boolean | undefined;
      };
    readonly ok: { readonly duplicate?: boolean | undefined };
    readonly fail: Why;
    readonly unknown: Why;
  };
  /** One whole request, as the server behind the endpoint saw it. It ends when that begins to answer. */
  readonly receipt: {
    readonly invoke: EventName &
      SeenBytes & {
        readonly endpoint: string;
        /** The id in its header. */
        readonly wireId: string;
        readonly attempt: number;
        /** The sender says that it was delivered before. */
        readonly replay: boolean;
        /** Whether its signatures hold, by a verifier that is not the sender's. */
        readonly genuine: boolean;
        /** Undefined where the event has no lane. */
        readonly place?: SeenPlace | undefined;
        /** The sequence that the sender says came before; undefined where the lane starts here. */
        readonly after?: string | undefined;
      };
    readonly ok: { readonly status: number };
    readonly fail: Why;
    readonly unknown: Why;
  };
  /** What a person did to a lane or a delivery. */
  readonly operate: {
    readonly invoke: { readonly verb: string; readonly endpoint: string; readonly key?: string | undefined };
    readonly ok: { readonly answer: string };
    readonly fail: Why;
    readonly unknown: Why;
  };
  /** A row of the publisher's own, without a unique key, written in the transaction of the event that it names. */
  readonly business_row: { readonly ok: EventName };
  /** A published event, as the outbox holds it. */
  readonly event_row: { readonly ok: EventName & SeenBytes & { readonly wireId: string } };
  /** An attempt, as the outbox keeps it. */
  readonly attempt_row: {
    readonly ok: EventName & {
      readonly endpoint: string;
      readonly round: number;
      readonly number: number;
      readonly outcome: string;
      /** Milliseconds since 1970. */
      readonly startedAt: number;
      readonly durationMs: number;
    };
  };
  /** A delivery that was not acknowledged, as the outbox keeps it. */
  readonly delivery_row: {
    readonly ok: EventName & {
      readonly endpoint: string;
      readonly round: number;
      readonly state: "due" | "dead" | "redriven" | "cancelled";
      /** Why it is dead or cancelled, or what a due one waits for that time alone does not bring. */
      readonly because?: string | undefined;
      readonly place?: SeenPlace | undefined;
    };
  };
  /** The whole outbox was read, when nothing was under way any more: so many rows of each kind. */
  readonly outbox_read: {
    readonly ok: {
      readonly events: number;
      readonly attempts: number;
      readonly deliveries: number;
      readonly business: number;
    };
  };
}
