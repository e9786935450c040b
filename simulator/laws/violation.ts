/** The invariants by which a run is judged, and `calm`: no loop spins without end. */
export type Broken =
  | "I1"
  | "I2"
  | "I3"
  | "I5"
  | "I6"
  | "I7"
  | "I9"
  | "I10"
  | "I11"
  | "I12"
  | "I14"
  | "I18"
  | StoredLaw
  | "calm";

/** What must hold of a stream that is stored first. */
export type StoredLaw =
  /** Every event that was acknowledged is applied by every consumer, unless somebody has passed over it. */
  | "W1 lost"
  /** Once, and once more for each replay. */
  | "W2 doubled"
  /** In the order in which the events of a key were stored. */
  | "W3 order"
  /** The state is that of the highest version, whatever the order; an equal one is stale. */
  | "W4 newest"
  /** Events that come before their turn wait for it, up to the limits, and are told what was given up. */
  | "W5 hold"
  /** Nothing of a consumer that is paused is leased. */
  | "W6 pause"
  /** Nobody settles more than was applied, after another has claimed it, or what is not for him. */
  | "W7 lease"
  /** What a worker keeps by its heartbeat is begun by nobody else. */
  | "W8 heartbeat"
  /** What a handler publishes is sent if its transaction has committed, and nothing else is. */
  | "W9 published"
  /** What becomes of an event whose handler threw is what the rules of its consumer say. */
  | "W10 rule"
  /** A step is not done again that the handler could know of. */
  | "W11 step"
  /** What waits for a handler that is removed is cancelled; one that a worker has is not removed. */
  | "W12 removed"
  /** A conflict is stored where a person has redriven it, and says which event came first. */
  | "W13 conflict";

/** A promise that a run has broken. */
export interface RunViolation {
  readonly invariant: Broken;
  readonly found: string;
  /** When, in milliseconds of the run; undefined where it is seen at the end. */
  readonly at?: number;
}

export type Report = (invariant: Broken, found: string) => void;
