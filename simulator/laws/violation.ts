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
  | "calm";

/** A promise that a run has broken. */
export interface RunViolation {
  readonly invariant: Broken;
  readonly found: string;
  /** When, in milliseconds of the run; undefined where it is seen at the end. */
  readonly at?: number;
}

export type Report = (invariant: Broken, found: string) => void;
