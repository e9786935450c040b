import type { AttemptRecord } from "../delivery/attempt-record.js";
import type {
  BlockedLane,
  DeadLetter,
  OperatorStore,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "./operator-store.js";

/** How a person looks into an outbox and intervenes. */
export interface Operator {
  /** Lanes that do not move, longest blocked first: what to look at when somebody waits for an event. */
  blockedLanes(page?: Partial<Page>): Promise<Paged<BlockedLane>>;
  /** Deliveries that were given up, newest first. */
  deadLetters(page?: Partial<Page>): Promise<Paged<DeadLetter>>;
  /** Every attempt of a delivery, in order. */
  attempts(deliveryId: string): Promise<readonly AttemptRecord[]>;
  /** Makes a dead delivery due again: in its old place where its lane has waited for it, at the end where it has not. */
  redrive(deliveryId: string): Promise<Redriven>;
  /** Passes over the head of a lane: the lane goes on, and receivers are told of the gap. */
  skip(laneId: bigint): Promise<Skipped>;
}

const DEFAULT_LIMIT = 100;
const MOST = 1000;

/**
 * Makes an operator of a store's outbox.
 *
 * @example
 * const operator = createOperator({ store: outbox });
 * for (const lane of (await operator.blockedLanes()).items) console.log(lane.key, lane.state, lane.depth);
 */
export function createOperator({ store }: { readonly store: OperatorStore }): Operator {
  return {
    blockedLanes: (page) => store.blockedLanes(pageOf(page)),
    deadLetters: (page) => store.deadLetters(pageOf(page)),
    attempts: (deliveryId) => store.attempts(deliveryId),
    redrive: (deliveryId) => store.redrive(deliveryId),
    skip: (laneId) => store.skip(laneId),
  };
}

function pageOf({ limit = DEFAULT_LIMIT, after }: Partial<Page> = {}): Page {
  return { limit: Math.min(Math.max(1, Math.trunc(limit)), MOST), after };
}
