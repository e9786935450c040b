import type { StopSignal } from "../stop-signal.js";
import type { StoreCapabilities, TransactionMode } from "../store-capabilities.js";

/** Names one event: the same id from another source or tenant is another event. */
export interface InboxKey {
  readonly tenant: string;
  readonly source: string;
  /** In its stored form, see stored-id.ts. */
  readonly id: string;
}

/**
 * What the inbox can know of an event. `dropped`: it was not newer than what was known. `pending`: an operator lets it be handled
 * again, and that is still to come.
 */
export type InboxOutcome = "success" | "skipped" | "dropped" | "failed" | "pending";

/**
 * Whether the next delivery takes an event over: nothing of one that failed, or that nobody handled, was applied, and of one
 * that is pending nothing in its present round.
 */
export function mayTakeOver(outcome: InboxOutcome): boolean {
  return outcome === "failed" || outcome === "skipped" || outcome === "pending";
}

/** One verified event, about to be applied. */
export interface Arrival extends InboxKey {
  readonly idPreview: string | undefined;
  readonly type: string;
  readonly eventAt: Date | undefined;
  readonly body: Uint8Array;
  /** SHA-256 of the body: the same id with another one is a conflict. */
  readonly bodyHash: Uint8Array;
  /** Header names and values as JSON text of ASCII characters. */
  readonly headers: string;
  /** Kept this long after its last receipt; undefined = for ever. */
  readonly windowS: number | undefined;
  /** What orders the events of its source, for what is kept to be redriven; undefined where nothing does. */
  readonly key?: string | undefined;
}

/** What the inbox records of an event whose payload is stored already: that is kept once, with the stored event. */
export type StoredPayload = Omit<Arrival, "body" | "headers">;

/** What is known of an event that arrived before. */
export interface KnownEvent {
  readonly outcome: InboxOutcome;
  readonly bodyHash: Uint8Array;
  readonly receivedAt: Date;
}

/** A whole row, for people and for replay. */
export interface InboxRow extends KnownEvent, Omit<StoredPayload, "windowS"> {
  /** Of an event that was stored first: the stored event's, and undefined when retention has removed that. */
  readonly body: Uint8Array | undefined;
  /** Header names and values as JSON text of ASCII characters; undefined with the body. */
  readonly headers: string | undefined;
  readonly lastReceivedAt: Date;
  /** The end of its window; undefined = for ever, and while it is failed. */
  readonly keepUntil: Date | undefined;
  /** How often the handler was run. */
  readonly attempts: number;
  /** How often the event arrived: with each run of its handler, and with each duplicate that `touch` has written. */
  readonly receipts: number;
  /** JSON text of what the handler returned. */
  readonly result: string | undefined;
  /** The last failure, or why it was skipped or dropped. */
  readonly error: string | undefined;
}

/** What a handler came to, inside the transaction. */
export interface Handled {
  readonly outcome: "success" | "skipped" | "dropped";
  /** JSON text to keep with the event; undefined = nothing to keep. */
  readonly result?: string | undefined;
  /** Why it was not handled, kept as the row's `error`; undefined = what is there stays. */
  readonly because?: string | undefined;
}

/** What became of an arrival. */
export type Acceptance =
  /** The handler ran, and its writes and the event's row are committed. */
  | { readonly kind: "applied"; readonly attempt: number }
  /** Another delivery had applied it. */
  | { readonly kind: "duplicate"; readonly known: KnownEvent }
  /** The id is known with another body. */
  | { readonly kind: "conflict"; readonly known: KnownEvent }
  /** Another delivery is applying it at this moment. */
  | { readonly kind: "busy" }
  /** No connection was to be had within `acquireMs`. */
  | { readonly kind: "saturated" }
  /** The handler threw, or its transaction was aborted under it: everything is rolled back. */
  | { readonly kind: "failed"; readonly error: unknown };

/** How long an accept may wait and work. */
export interface AcceptLimits {
  /** For a connection. */
  readonly acquireMs: number;
  /** Aborts when the handler's deadline passes; the transaction is then ended by force. */
  readonly signal: StopSignal;
}

/** Why an event was refused for good. */
export type RefusedBecause = "conflict" | "stale";

/**
 * Where the inbox lives. Each sentence is a case of the conformance kit, in the same words.
 * `Tx` is the host client's own transaction type.
 */
export interface InboxStore<Tx, Mode extends TransactionMode = TransactionMode> {
  readonly capabilities: StoreCapabilities;
  /** Whether handlers may await inside the transaction; on SQLite they may not. */
  readonly transactions: Mode;
  /**
   * Says what is known of an event, without a transaction; calls of the same moment may share one query. An event whose window
   * has passed is unknown, whether or not a purge has removed it.
   */
  find(key: InboxKey): Promise<KnownEvent | undefined>;
  /**
   * Runs `work` at most once per event, in a transaction that commits its writes together with the event's
   * row; where a neighbour in the same group breaks its transaction, `work` may be rolled back and run again.
   * A row that says `failed` or `skipped` is taken over, whatever its body: nothing of it was applied; so is one whose window has
   * passed, which is another event's. Never waits for another delivery of the same event.
   * Throws `store_commit_unknown` when the answer to the commit was lost, `store_unavailable` when it never began.
   */
  accept(
    arrival: Arrival,
    work: (tx: Tx) => Promise<Handled> | Handled,
    limits: AcceptLimits,
  ): Promise<Acceptance>;
  /** Records that the handler failed, with its attempt's number, after its transaction was rolled back; a row that says `success` stays. */
  fail(arrival: Arrival, error: string): Promise<void>;
  /** Records a conflict or a stale event apart from the inbox, with its bytes. */
  refuse(arrival: Arrival, because: RefusedBecause): Promise<void>;
  /**
   * Notes that a duplicate arrived: its window starts again, and is never made shorter; of an event that failed nothing
   * changes. May be written later, in batches, at most once per key and minute, or half a window where that is shorter;
   * what is written is counted as a receipt.
   */
  touch(arrival: Arrival): void;
  /** Writes what `touch` has gathered. */
  flush(): Promise<void>;
  /** Reads a whole row. */
  read(key: InboxKey): Promise<InboxRow | undefined>;
  /**
   * Removes rows whose window has passed, oldest first, in small batches; never one that says `failed`. The window of an
   * event that failed counts from the moment at which it is applied.
   */
  purge(limits: PurgeLimits): Promise<PurgeReport>;
}

/** Where a purge stops: it holds no lock for longer, and may be called again. */
export interface PurgeLimits {
  readonly maxRows: number;
  readonly deadlineMs: number;
}

/** What a purge has done. */
export interface PurgeReport {
  readonly removed: number;
  /** True when it stopped at a limit and there is more to remove; with names of stored events, there may be. */
  readonly more: boolean;
}
