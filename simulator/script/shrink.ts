import type { Script, Step } from "./script.js";
import { simulate } from "../simulate.js";
import type { SimulateOptions } from "../simulate.js";
import type { Broken, RunViolation } from "../laws/violation.js";

/** A short script that still breaks a promise. */
export interface Shrunk {
  readonly script: Script;
  readonly violation: RunViolation;
  /** How many runs it took. */
  readonly runs: number;
}

// Enough to halve a script many times over; a bug that needs more is understood faster from its history.
const MOST_RUNS = 1500;

/** Takes away from a failing script what it can do without: steps, events, nodes, endpoints and skews. */
export async function shrink(script: Script, options: SimulateOptions = {}): Promise<Shrunk | undefined> {
  const first = (await simulate(script, options)).violations[0];
  if (first === undefined) return undefined;
  const shrinking = new Shrinking(script, first, options);
  await shrinking.run();
  return shrinking.result;
}

class Shrinking {
  readonly #options: SimulateOptions;
  readonly #invariant: Broken;
  #script: Script;
  #violation: RunViolation;
  #runs = 1;

  constructor(script: Script, violation: RunViolation, options: SimulateOptions) {
    this.#script = script;
    this.#violation = violation;
    this.#invariant = violation.invariant;
    this.#options = options;
  }

  get result(): Shrunk {
    return { script: this.#script, violation: this.#violation, runs: this.#runs };
  }

  async run(): Promise<void> {
    let shrank = true;
    while (shrank && this.#runs < MOST_RUNS) {
      const before = sizeOf(this.#script);
      await this.#dropSteps();
      await this.#dropEvents();
      await this.#dropNodes();
      await this.#simplify();
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

  async #dropEvents(): Promise<void> {
    for (const step of this.#script.steps) {
      if (step.kind !== "publish") continue;
      for (const event of step.events) {
        await this.#change(step.at, (each) =>
          each.kind === "publish" && each.events.length > 1
            ? { ...each, events: each.events.filter(({ number }) => number !== event.number) }
            : each,
        );
      }
    }
  }

  async #dropNodes(): Promise<void> {
    for (let index = this.#script.nodes.length - 1; index >= 0; index--) {
      const nodes = this.#script.nodes.toSpliced(index, 1);
      if (![0, 1].every((database) => nodes.some((node) => node.database === database))) continue;
      const moved = (node: number): number => (node > index ? node - 1 : node);
      const steps = this.#script.steps
        .filter((step) => !("node" in step) || step.node !== index)
        .map((step) => ("node" in step ? Object.assign({}, step, { node: moved(step.node) }) : step));
      await this.#take({ ...this.#script, nodes, steps });
    }
    if (this.#script.endpoints.length > 1) {
      await this.#take({ ...this.#script, endpoints: this.#script.endpoints.slice(0, 1) });
    }
  }

  async #simplify(): Promise<void> {
    const nodes = this.#script.nodes.map((node) => ({ ...node, skewMs: 0, rate: 1 }));
    if (JSON.stringify(nodes) !== JSON.stringify(this.#script.nodes))
      await this.#take({ ...this.#script, nodes });
  }

  async #change(at: number, change: (step: Step) => Step): Promise<void> {
    const steps = this.#script.steps.map((step) => (step.at === at ? change(step) : step));
    if (JSON.stringify(steps) !== JSON.stringify(this.#script.steps))
      await this.#take({ ...this.#script, steps });
  }

  /** Keeps a script that breaks the same promise. */
  async #take(script: Script): Promise<boolean> {
    if (this.#runs >= MOST_RUNS) return false;
    this.#runs++;
    const { violations } = await simulate(script, this.#options);
    const same = violations.find(({ invariant }) => invariant === this.#invariant);
    if (same === undefined) return false;
    this.#script = script;
    this.#violation = same;
    return true;
  }
}

function sizeOf(script: Script): number {
  return JSON.stringify(script).length;
}
