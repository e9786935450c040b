import type { AttemptRecord } from "./attempt-record.js";

/** Why a delivery is dead. The list is closed: an operator looks each of them up. */
export const DEAD_REASONS = {
  exhausted: "Every attempt that its retry policy allows has failed.",
  refused: "The endpoint answered with a status that says it will never take this event.",
  forbidden: "The endpoint's address is one to which nothing may be sent.",
  lease_expired: "Its process died while it ran alone: it is likely that the event itself kills the process.",
  event_missing: "Its event is no longer in the database: somebody has deleted it.",
  error_rule: "A rule for errors of its handler says that what was thrown is never tried again.",
  unsendable: "It cannot be made into a request: its id or key cannot be signed, or a secret cannot be read.",
} as const;

/** Why a delivery is dead: a key of `DEAD_REASONS`, which says more. */
export type DeadBecause = keyof typeof DEAD_REASONS;

/** What a dead delivery does to its lane: later events wait, or go on past the gap, or are set aside with it. */
export type DeadPolicy = "halt" | "skip" | "park";

/** A delivery that is given up. */
export interface DeadDelivery {
  readonly sequence: bigint;
  readonly because: DeadBecause;
  readonly attempts: number;
  /** What its last attempt came to, where there was one. */
  readonly last: Pick<AttemptRecord, "status" | "error"> | undefined;
}
