import type { AttemptRecord } from "../lanes/attempt-record.js";
import type { DeadBecause } from "../lanes/dead.js";
import type { DeadFilter } from "./dead-filter.js";

/** Why a lane does not move. */
export type BlockedState = "halted" | "parked" | "retrying" | "paused" | "disabled";

/** A lane that does not move, and what stands in it. */
export interface BlockedLane {
  readonly id: bigint;
  readonly tenant: string;
  readonly endpointId: string;
  readonly key: string;
  readonly state: BlockedState;
  /** How many deliveries wait in it, the head included. */
  readonly depth: bigint;
  /** Its sequence, by which it is skipped. */
  readonly head: bigint;
  readonly headEventId: string;
  /** Since the first failure or lapse of the head that it has now; where there was none, since its endpoint stopped. */
  readonly blockedMs: number;
  readonly failures: number;
  /** Until its next attempt, 0 while one is under way; undefined when it has none. */
  readonly dueInMs: number | undefined;
}

/** A delivery that was given up. */
export interface DeadLetter {
  /** `dlv_…`, by which it is redriven. */
  readonly id: string;
  /** Higher than that of all that died before it. */
  readonly number: bigint;
  readonly laneId: bigint | undefined;
  readonly tenant: string;
  readonly endpointId: string;
  readonly key: string | undefined;
  readonly sequence: bigint | undefined;
  /** Empty, as the type is, where the event was deleted. */
  readonly eventId: string;
  readonly type: string;
  readonly round: number;
  readonly because: DeadBecause;
  readonly diedAt: Date;
  readonly attempts: number;
  /** Of the attempt by which it died; undefined where it died without one. */
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
  /** Whether its lane waits for it. */
  readonly blocks: boolean;
}

/** Which part of a list is wanted. */
export interface Page {
  readonly limit: number;
  /** `next` of the page before. Anything else is refused with `cursor_invalid`. */
  readonly after?: string | undefined;
}

/** A part of a list. */
export interface Paged<T> {
  readonly items: readonly T[];
  /** Where the next page begins; undefined at the end, and only there: a page may hold fewer than its limit, or none. */
  readonly next: string | undefined;
}

/** Where a redriven delivery is now. */
export type Redriven =
  /** At the head of its lane, where it had stayed. */
  | "in_place"
  /** At the end of its lane, which had gone on without it; or without a lane. */
  | "at_end"
  /** There is no dead letter of this id, or it was redriven before. */
  | "unknown";

/** What became of a skip. */
export type Skipped =
  /** At once, also where the head's lease has ended: its lapsed attempt is recorded, and its worker's late settlement is stale. */
  | "skipped"
  /** A worker has the head under way: it is skipped unless that succeeds. */
  | "intended"
  /** The lane is empty, there is none of this id, or its head is another by now: nothing was changed. */
  | "unknown";

/** What is to be tried now: all that an endpoint has failed, the head of a lane, or one delivery. */
export type RetryTarget =
  | { readonly endpointId: string }
  | { readonly laneId: bigint }
  /** One that is not the head of its lane waits for the others, and is not changed. */
  | { readonly deliveryId: string };

/** How a person looks and intervenes. Each sentence is a case of the conformance kit, in the same words. */
export interface OperatorStore {
  /**
   * Lanes whose head has failed, has lapsed or is dead, or whose endpoint is stopped; longest blocked first. One whose
   * head is dead is halted or parked, whatever its endpoint; one whose endpoint is stopped has its state.
   */
  blockedLanes(page: Page): Promise<Paged<BlockedLane>>;
  /** Newest first; none of an endpoint that was removed. With a filter, those alone that it lets through, in its order. */
  deadLetters(page: Page, filter?: DeadFilter): Promise<Paged<DeadLetter>>;
  /**
   * Makes a dead delivery due again, in a new round with a fresh retry budget; a second call changes nothing. At a handler
   * also one that was skipped or cancelled, while it waited or dead, at the end of its lane; an endpoint was told of the gap.
   */
  redrive(deliveryId: string): Promise<Redriven>;
  /**
   * Passes over the lane's head, where it is the one that is named: the lane goes on, and the gap is told on the wire; a
   * second call changes nothing. The dead letter of a dead head is listed no more. A head whose lease has ended is skipped at once, under a new epoch.
   */
  skip(laneId: bigint, head: bigint): Promise<Skipped>;
  /**
   * Makes what has failed and waits for the time of its next attempt due now, in its order, and says how many deliveries
   * that were; their failures and retry budgets stay. What was never tried, is under way or is dead is not changed.
   */
  retry(target: RetryTarget): Promise<number>;
  /**
   * Raises the generation of every lane above all that were ever given, by the store's clock, and says how many lanes there
   * are. After a restore, sequences that were given since the backup are given again, to other events: receivers compare
   * sequences only within a generation. It may go in steps: where it ended between two of them, it is to be called again.
   */
  raiseGenerations(): Promise<number>;
  /** Every attempt of a delivery, in order. */
  attempts(deliveryId: string): Promise<readonly AttemptRecord[]>;
}
