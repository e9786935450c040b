import type { AttemptRecord } from "../../lanes/attempt-record.js";
import type {
  HandlerConsumer,
  HandlerPause,
  HandlerRemoval,
  HandlerRemoved,
  RegisteredHandler,
} from "../../lanes/handler-consumer.js";
import type { Claim, ClaimedDelivery, LaneStore, RunLimits } from "../../lanes/lane-store.js";
import type { TransactionMode } from "../../store-capabilities.js";
import type { AcceptLimits, Handled } from "../inbox-store.js";
import type { StepStore } from "../handler/step-store.js";

/** How long an apply may wait and work, and on what terms it leases the lane's next head. */
export interface ApplyLimits extends AcceptLimits {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
  /** Whether the worker would take the lane's next head. */
  readonly next: boolean;
  /** Whether, where nothing waits behind, it would take another due lane of the consumer; a store may leave that to the next claim. */
  readonly other?: boolean;
}

/** What became of a claim. `next` is the lane's next head, leased under the next epoch, or another lane of its consumer. */
export type Applied =
  /** The handlers of `count` deliveries ran, from the head on; their writes, rows and the lane's next state are committed. */
  | { readonly kind: "applied"; readonly count: number; readonly next: Claim | undefined }
  /** The head was applied before: the lane goes on without it. */
  | { readonly kind: "duplicate"; readonly count: 1; readonly next: Claim | undefined }
  /** Another has claimed the lane since: everything is rolled back. */
  | { readonly kind: "stale" }
  /** Somebody else is applying the head's event at this moment. */
  | { readonly kind: "busy" }
  /** No connection was to be had within `acquireMs`. */
  | { readonly kind: "saturated" }
  /** A handler threw, or the transaction was aborted under it: everything is rolled back, and the lane is as it was. */
  | { readonly kind: "failed"; readonly error: unknown };

/** A delivery whose row of the inbox is written. */
export interface EnteredDelivery extends ClaimedDelivery {
  /** Of that row: 1, and one more with each replay; a redrive leaves it. */
  readonly inboxRound: number;
}

/** What runs in the transaction: it is given the deliveries that are applied, and says of each, in order, what it came to. */
export type ApplyWork<Tx> = (
  tx: Tx,
  run: readonly [EnteredDelivery, ...EnteredDelivery[]],
) => Promise<readonly Handled[]> | readonly Handled[];

/**
 * Where handlers are consumers of lanes. Each sentence is a case of the conformance kit, in the same words.
 * `Tx` is the host client's own transaction type.
 */
export interface WorkerStore<Tx, Mode extends TransactionMode = TransactionMode>
  extends LaneStore, StepStore {
  /** Whether handlers may await inside the transaction; on SQLite they may not. */
  readonly transactions: Mode;
  /** How many connections its pool has at most; undefined where handlers take none. */
  readonly connections: number | undefined;
  /**
   * Registers handlers by their ids; one that is registered in the same words is left as it is. It gets what is sequenced
   * from now on, and what was set aside because there was no handler for it. Versions of the host that register a handler in
   * other words count together: it gets the sources of all of them, whichever spoke last, its order is by key where one of
   * them says so, and of their dead policies the one that holds back most counts. What a version has not said for an hour
   * goes when another one registers. Nothing is removed by itself, and a handler that was paused stays paused.
   */
  register(consumers: readonly HandlerConsumer[]): Promise<void>;
  /**
   * Pauses a handler: nothing of it is claimed until the pause ends, and what waits stays, in order. It ends by itself
   * after `forMs`, or when somebody resumes the handler, and says which person has paused it, if one has. Of two pauses the one that ends later stays, with its reason; a
   * disabled handler stays disabled. A pause is kept by the store: every process heeds it, and no start or registration
   * ends it. False where there is no such handler.
   */
  pauseHandler(id: string, pause: HandlerPause): Promise<boolean>;
  /** Ends a pause before its time, or what has disabled the handler; false where it was active, or there is none. */
  resumeHandler(id: string): Promise<boolean>;
  /**
   * Removes a handler that no worker has said to have within `unseenForMs`: it gets nothing more, what waits for it is
   * recorded as cancelled, a bounded step at a time, and its dead letters are resolved. What it has applied stays known: a
   * worker that registers it again makes it anew, with what is stored from then on and in lanes of a higher generation.
   */
  removeHandler(id: string, removal: HandlerRemoval): Promise<HandlerRemoved>;
  /** The handlers of these ids, in the order of their ids; all of them where no ids are given. */
  readHandlers(ids?: readonly string[]): Promise<readonly RegisteredHandler[]>;
  /** Every attempt of a delivery that is kept, in order. */
  attempts(deliveryId: string): Promise<readonly AttemptRecord[]>;
  /**
   * Runs `work` once, with the deliveries of a claim in order, in one transaction that commits its writes together with
   * the events' rows of the inbox and the lane's next state; it returns the lane's next head, leased. Where nothing waits
   * behind and `other` asks for it, that may be another lane of the same consumer: due, leased by nobody, its head never
   * tried. An event that was applied before is a duplicate; where it is not the head, the run ends before it, and `work` is
   * not given what is behind. Handlers without a name share the rows of `accept`: an event that comes once in each mode is applied
   * once, wherever it was applied first, and is busy in one mode while it is applied in the other. Handlers with a name apply an
   * event once for themselves. A claim that has passed to another changes nothing. No lane is locked while a handler runs. Throws `store_commit_unknown` when
   * the answer to the commit was lost: the claim is to be released then, and the next one finds the truth.
   */
  apply(claim: Claim, work: ApplyWork<Tx>, limits: ApplyLimits): Promise<Applied>;
}
