import type { Broken, RunViolation } from "../laws/violation.js";

/** A short script that still breaks a promise. */
export interface Shrunk<Played> {
  readonly script: Played;
  readonly violation: RunViolation;
  /** How many runs it took. */
  readonly runs: number;
}

export interface ShrinkParts<Played> {
  /** Runs a script, and says what it breaks. */
  readonly judge: (script: Played) => Promise<readonly RunViolation[]>;
  /** Each makes of a script those that have a little less. */
  readonly reductions: readonly ((script: Played) => readonly Played[])[];
}

// Enough to halve a script many times over; a bug that needs more is understood faster from its history.
const MOST_RUNS = 1500;

/** Takes away from a failing script what it can do without: its steps first, then what its reductions say. */
export class Shrinking<Played extends { readonly steps: readonly unknown[] }> {
  readonly #parts: ShrinkParts<Played>;
  readonly #invariant: Broken;
  #script: Played;
  #violation: RunViolation;
  #runs = 1;

  constructor(script: Played, violation: RunViolation, parts: ShrinkParts<Played>) {
    this.#script = script;
    this.#violation = violation;
    this.#invariant = violation.invariant;
    this.#parts = parts;
  }

  get result(): Shrunk<Played> {
    return { script: this.#script, violation: this.#violation, runs: this.#runs };
  }

  async run(): Promise<void> {
    let shrank = true;
    while (shrank && this.#runs < MOST_RUNS) {
      const before = sizeOf(this.#script);
      await this.#dropSteps();
      for (const reduction of this.#parts.reductions) await this.#reduce(reduction);
      shrank = sizeOf(this.#script) < before;
    }
  }

  /** Half of them, then a quarter, and so on down to one. */
  async #dropSteps(): Promise<void> {
    for (let size = this.#script.steps.length; size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < this.#script.steps.length;) {
        const steps = this.#script.steps.toSpliced(from, size);
        if (!(await this.#take({ ...this.#script, steps }))) from += size;
      }
    }
  }

  async #reduce(reduction: (script: Played) => readonly Played[]): Promise<void> {
    let smaller = reduction(this.#script);
    for (let nth = 0; nth < smaller.length;) {
      const candidate = smaller[nth];
      if (candidate === undefined || sizeOf(candidate) >= sizeOf(this.#script)) nth++;
      else if (await this.#take(candidate)) smaller = reduction(this.#script);
      else nth++;
    }
  }

  /** Keeps a script that breaks the same promise. */
  async #take(script: Played): Promise<boolean> {
    if (this.#runs >= MOST_RUNS) return false;
    this.#runs++;
    const violations = await this.#parts.judge(script);
    const same = violations.find(({ invariant }) => invariant === this.#invariant);
    if (same === undefined) return false;
    this.#script = script;
    this.#violation = same;
    return true;
  }
}

/** The shortest script that was found to break the same promise; undefined where the script breaks none. */
export async function shrunkBy<Played extends { readonly steps: readonly unknown[] }>(
  script: Played,
  parts: ShrinkParts<Played>,
): Promise<Shrunk<Played> | undefined> {
  const [first] = await parts.judge(script);
  if (first === undefined) return undefined;
  const shrinking = new Shrinking(script, first, parts);
  await shrinking.run();
  return shrinking.result;
}

function sizeOf(script: unknown): number {
  return JSON.stringify(script).length;
}
