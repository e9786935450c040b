/** What a suite is: the port between the harness and the things it measures. */
import type { CaseFigures, Figure } from "./figures.js";
import type { Goal } from "./goals.js";

interface CaseLife {
  /** Unique in its suite; ratios, plans and the JSON name the case by it. */
  readonly name: string;
  /** Cases of one group stand together in the table and share the scale of their bars. */
  readonly group?: string;
  /** Why the case cannot run here, when it cannot: this is said, and the case and its ratios are left out. */
  readonly missing?: string | undefined;
  /** Runs once, before the case warms up; what it opens, `teardown` closes. */
  setup?(): void | Promise<void>;
  /** Runs untimed before the warm-up and before every turn: refill a backlog, empty a table, sign afresh. */
  beforeTurn?(): void | Promise<void>;
  /** Runs untimed after the warm-up and after every turn: wait for what the turn left under way, so that the next case has the machine to itself. */
  afterTurn?(): void | Promise<void>;
  /** Runs once, when the case is warm: forget what was counted until then. */
  warmedUp?(): void;
  /** Runs once after the limits are measured, also when the run fails or is interrupted. */
  teardown?(): void | Promise<void>;
}

/** A synchronous operation. Too short for the clock, so it is timed in batches: its latencies are batch means. */
export interface LoopCase extends CaseLife {
  readonly kind: "loop";
  /** One operation. Its return value is kept, so that the compiler cannot drop the work. */
  run(): unknown;
}

/** An asynchronous operation under load: `callers` closed loops, each calling again as soon as it is answered. */
export interface LoadCase extends CaseLife {
  readonly kind: "load";
  readonly callers: number;
  /** What one call counts for in `perSecond`: 200 for a call that writes 200 rows. Latencies stay those of calls. @default 1 */
  readonly operationsPerCall?: number;
  /** One operation of caller 0 … callers - 1. A rejection fails the run: errors answered fast are no throughput. */
  call(caller: number): Promise<unknown>;
}

/** A piece of work of a fixed size, done once in every turn, however long it takes: a backlog that is drained, events at a fixed rate. */
export interface WorkCase extends CaseLife {
  readonly kind: "work";
  /**
   * Does the work and says how many operations it was; `record` takes how long single ones took, and of how many that is
   * told. Where none is recorded, the time of the whole counts as one. A rejection fails the run.
   */
  run(record: (ms: number, count?: number) => void): Promise<number | TimedWork>;
}

/** Work that another process has done, which has timed it without its own start and end. */
export interface TimedWork {
  readonly operations: number;
  readonly elapsedMs: number;
}

export type Case = LoopCase | LoadCase | WorkCase;

/** `of` divided by `to`, round by round; the value is the median of those quotients. */
export interface Ratio {
  readonly name: string;
  readonly of: string;
  readonly to: string;
  /** What is divided: `perSecond` unless told. */
  readonly figure?: Figure;
  /** By what it is divided: the same figure unless told. */
  readonly toFigure?: Figure;
  /** A ratio without a goal is reported only. */
  readonly goal?: Goal;
}

/** An absolute figure, measured once after the last round while everything is still open. Its name carries the unit. */
export interface Limit {
  readonly name: string;
  readonly goal?: Goal;
  measure(cases: ReadonlyMap<string, CaseFigures>): number | Promise<number>;
}

/** How long one run takes, and what it includes. */
export interface Plan {
  /** At least 5; every case has one turn in every round. */
  readonly rounds: number;
  readonly turnMs: number;
  readonly warmupMs: number;
  /** Names of the cases to run; all of them unless told. Ratios that miss a case fall away. */
  readonly cases?: readonly string[];
  /** Names of the limits to measure; all of them unless told. */
  readonly limits?: readonly string[];
}

export interface SuiteContext {
  readonly quick: boolean;
  /** Tells of a setup that takes long: a silent minute looks like a hang. */
  say(text: string): void;
  /** Registers a step that closes what the cases share; steps run last in, first out, however the run ends. */
  onClose(step: () => void | Promise<void>): void;
}

export interface Suite {
  /** `quick` has to end within 45 s, start and setup included. */
  readonly plans: { readonly full: Plan; readonly quick: Plan };
  readonly ratios: readonly Ratio[];
  readonly limits: readonly Limit[];
  /** Says why the suite cannot run here (a service is missing, the library is not built), or nothing. */
  unavailable?(): string | undefined | Promise<string | undefined>;
  /** Opens what the cases share and lists the cases. */
  cases(context: SuiteContext): readonly Case[] | Promise<readonly Case[]>;
}
