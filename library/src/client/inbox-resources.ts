import type { Delivery } from "./resources.js";

/** What the inbox knows of an event at one consumer. */
export type InboxOutcome = "success" | "skipped" | "failed" | "pending" | "held" | "dead" | "dropped";

/** A row of the inbox: one event at one consumer. */
export interface InboxRow {
  /** `source/event`: with its tenant and its consumer it names the row. */
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  /** The provider's id, in the form in which it is stored. */
  readonly eventId: string;
  /** The beginning of an id that is kept as a hash. */
  readonly idPreview: string | null;
  /** As the lanes know it: `hnd_default` for handlers that have no name. */
  readonly consumerId: string;
  readonly type: string;
  readonly outcome: InboxOutcome;
  /** 1, and one more with each replay. */
  readonly round: number;
  readonly attempts: number;
  readonly receipts: number;
  /** When it happened, by the provider's word. */
  readonly eventAt: string | null;
  readonly receivedAt: string;
  readonly lastReceivedAt: string;
  /** Null: for ever, or until it is applied. */
  readonly keepUntil: string | null;
  /** The stored event; null where it was handled within its request. */
  readonly storedAs: string | null;
  /** What the handler returned, as JSON text. */
  readonly result: string | null;
  readonly error: string | null;
  readonly bodyBytes: number;
}

/** One failure of a handler. */
export interface InboxFailure {
  readonly consumerId: string;
  /** Of the delivery; null where the handler ran within its request. */
  readonly deliveryId: string | null;
  readonly round: number;
  readonly attempt: number;
  readonly at: string;
  /** `failed`, or `lapsed` where its worker was lost. */
  readonly outcome: "failed" | "lapsed";
  readonly error: string | null;
  /** Failures of one cause have the same. */
  readonly fingerprint: string | null;
}

/** An event that was refused for good. */
export interface RefusedEvent {
  /** `source/event`. */
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly eventId: string;
  /** `conflict`: another body under a known id. `stale`: it happened before the window of what is remembered began. */
  readonly because: "conflict" | "stale";
  readonly type: string;
  readonly eventAt: string | null;
  readonly receipts: number;
  readonly refusedAt: string;
  readonly lastRefusedAt: string;
  /** SHA-256 of its body as hexadecimal text: one event may be refused with several. */
  readonly bodyHash: string;
  readonly bodyBytes: number;
}

/** Sequences of a key that did not come. */
export interface HeldGap {
  readonly from: string;
  readonly to: string;
}

/** A stored event whose source holds what comes before its turn: what it waits for, or what was decided of it. */
export interface HeldEvent {
  /** The stored event. */
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
  readonly type: string;
  readonly generation: string;
  readonly sequence: string;
  readonly receivedAt: string;
  /** The handlers that get it: all of them wait. */
  readonly consumerIds: readonly string[];
  /** Null where it is held no longer, or never was. */
  readonly heldSince: string | null;
  /** At the latest; then what is missing is given up. */
  readonly heldUntil: string | null;
  /** Directly before it; null where it waits for those alone that are held before it. */
  readonly missing: HeldGap | null;
  /** What was given up before it, and why: `time`, `number`, `restart` or `operator`. */
  readonly gap: (HeldGap & { readonly because: string }) | null;
  /** It came after its place had been passed. */
  readonly late: boolean;
  /** What it waits for, or what was decided, in words. */
  readonly sentence: string;
}

/** What a release has let go. */
export interface HeldReleased {
  /** The event that was named. */
  readonly id: string;
  /** How many events are held no longer. */
  readonly events: number;
  /** What was given up, in the order of the sequences. */
  readonly gaps: readonly HeldGap[];
}

/** One event of the inbox: its rows, what failed, where it waits, and what was refused under its id. */
export interface InboxEvent {
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly eventId: string;
  /** One for each consumer that has applied or skipped it; none while it waits for the first. */
  readonly rows: readonly InboxRow[];
  readonly failures: readonly InboxFailure[];
  /** Of the stored event, to handlers. */
  readonly deliveries: readonly Delivery[];
  readonly refused: readonly RefusedEvent[];
  /** The stored event in the sequence of its key, where its source holds what comes before its turn. */
  readonly held: readonly HeldEvent[];
}

/** What became of an event that was to be handled again. */
export interface InboxRedriven {
  readonly items: readonly {
    /** Null where it goes to every handler of its source. */
    readonly consumerId: string | null;
    /** The stored event. */
    readonly eventId: string | null;
    /** `staged`, or why not: `applied`, `not_stored`, `no_worker`, `busy`, `before`. */
    readonly result: string;
  }[];
}

/** What was forgotten of an event. */
export interface Forgot {
  /** At so many consumers. */
  readonly rows: number;
  /** Names under which it came. */
  readonly names: number;
}

/** Which rows are wanted; what is left out does not matter. */
export interface InboxQuery {
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  /** `hnd_…`, or its name. */
  readonly consumer?: string | undefined;
  readonly outcome?: InboxOutcome | undefined;
  readonly type?: string | undefined;
  /** First received at this time or later: ISO 8601, or an age such as `24h`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A handler in a host's process, as a consumer of lanes. */
export interface Consumer {
  /** `hnd_…` */
  readonly id: string;
  /** Of all its versions. */
  readonly sources: readonly string[];
  readonly order: "key" | "none";
  /** The newest first. */
  readonly versions: readonly {
    readonly sources: readonly string[];
    /** A type, `*`, or either of them behind a source and a colon. */
    readonly types: readonly string[];
    readonly at: string;
  }[];
  readonly state: "active" | "paused" | "disabled";
  readonly because: string | null;
  /** Null: until somebody resumes it. */
  readonly pausedUntil: string | null;
  /** The person who paused it; null where a rule for errors has, or nobody. */
  readonly pausedBy: string | null;
  /** When a worker that has it last said so, which it does every minute. */
  readonly seenAt: string | null;
  /** Whether one has within three minutes. */
  readonly hasWorker: boolean;
  readonly waiting: number;
  readonly haltedLanes: number;
  readonly parkedLanes: number;
  readonly retryingLanes: number;
  readonly oldestMs: number | null;
  readonly exact: boolean;
  readonly dead: number;
}

/** What was cancelled with a handler that was removed. */
export interface RemovedConsumer {
  readonly id: string;
  /** How many deliveries stood in its lanes, the dead heads included: they are cancelled, a step at a time. */
  readonly waiting: number;
  readonly exact: boolean;
}
