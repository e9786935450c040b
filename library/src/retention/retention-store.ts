/**
 * What is removed, in the order of a pass. An event is the last to go, and takes all that is told of it along. A lane
 * that is empty goes with the last record of it.
 */
export const RETENTION_KINDS = [
  "answers",
  "attempts",
  "cancelled",
  "dead",
  "set_aside",
  "ids",
  "events",
] as const;

/** The kinds of records that are removed, each by a window of its own. */
export type RetentionKind = (typeof RETENTION_KINDS)[number];

/** One small part of a pass. */
export interface RemovalStep {
  readonly kind: RetentionKind;
  /** What is younger than this stays. */
  readonly windowMs: number;
  /** Of `events`: how long the ids that publishers gave are known, from the event's writing on. */
  readonly idWindowMs?: number | undefined;
  /** How many are looked at; a store may look at fewer. */
  readonly limit: number;
  /** Where the step before has ended; undefined where a pass begins. */
  readonly after?: string | undefined;
}

/** What one step of a pass has done. */
export type Removal =
  /** Another process is at it. Nothing was done. */
  | { readonly kind: "busy" }
  | {
      readonly kind: "done";
      /** Rows that are gone, of all tables; answers count too. */
      readonly removed: number;
      /** Where the pass goes on; undefined at its end. */
      readonly next: string | undefined;
    };

/** How the removal of one kind stands. */
export interface RetentionState {
  readonly kind: RetentionKind;
  /** Rows that were removed, ever. */
  readonly removed: number;
  /** Since a pass last reached its end; undefined where none has. */
  readonly passedMs: number | undefined;
  /** Age of the oldest that is kept, of those that could go; undefined where there is none, or it is not known cheaply. */
  readonly oldestMs: number | undefined;
}

/** How much room everything takes. */
export interface RetentionCensus {
  /** Of tables and indexes, or of the whole file. */
  readonly bytes: number;
  /** Of these, what stands empty and will be used again; undefined where it is not known cheaply. */
  readonly freeBytes: number | undefined;
  /** The largest first; empty where it is not known cheaply. */
  readonly tables: readonly { readonly name: string; readonly bytes: number }[];
  readonly kinds: readonly RetentionState[];
}

/** Where old records are removed. Each sentence is a case of the conformance kit, in the same words. */
export interface RetentionStore {
  /**
   * Removes what is older than the window, oldest first. An event stays while a delivery of it waits, is under way or is
   * not due yet, and while a dead letter or a set-aside event of it is unresolved or within its own window. What goes takes
   * its attempts and cancelled deliveries along, and an id that its publisher gave, once that is older than its own window.
   * Attempts and answers of a delivery that is open or dead stay. A dead letter goes only after it was resolved. A lane of which
   * nothing is left goes too; when it comes back, it begins above its old sequences, in a higher generation.
   */
  removeOld(step: RemovalStep): Promise<Removal>;
  /** How much room everything takes, and how far the removal is. */
  retention(): Promise<RetentionCensus>;
}
