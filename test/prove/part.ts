import type { Chance } from "../chance.js";

/** How much is proved: `ci` in about ten minutes, `long` overnight. */
export type Depth = "ci" | "long";

/** One proof, which holds or does not. */
export interface Part {
  readonly name: string;
  /** What it tries, in one line. */
  readonly about: string;
  /** How long it should take on two cores, in seconds. */
  readonly budgetS: Readonly<Record<Depth, number>>;
  /** Throws where it cannot go on; everything else is told to the bench. */
  run(bench: Bench): Promise<void>;
}

/** Where a part says what it does and what it has found. */
export interface Bench {
  readonly depth: Depth;
  /** Every random choice of the part comes from it. */
  readonly seed: number;
  readonly chance: Chance;
  /** One line that tells how far it is; the next one takes its place. */
  progress(line: string): void;
  /** A line that stays. */
  note(line: string): void;
  /** What happened so often; told at the end. */
  count(what: string, times: number): void;
  /** A promise that was kept, or not. */
  expect(promise: string, kept: boolean): void;
  /** What cannot be tried on this machine, and why. */
  skip(what: string, why: string): void;
}
