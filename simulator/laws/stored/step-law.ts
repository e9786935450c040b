import type { OfStep } from "../../stored/sightings.js";
import type { SightingOf } from "../../world/run-log.js";
import type { Report } from "../violation.js";
import type { StoredFacts } from "./stored-facts.js";

/** When a step was done, or known to be done, by a run that knew of all that was not forgotten. */
interface Known {
  acted: number;
  stepped: number;
}

/**
 * A handler does no step again that a former run of it has finished, nor one that it could find at the other side; and what
 * it is told of a step is what came of it (W11).
 */
export class StepLaw {
  readonly #report: Report;
  readonly #facts: StoredFacts;
  readonly #runs = new Map<string, number>();
  readonly #beganAt = new Map<string, number>();
  readonly #known = new Map<string, Known>();
  readonly #effects = new Set<string>();

  constructor(facts: StoredFacts, report: Report) {
    this.#facts = facts;
    this.#report = report;
  }

  judge(): void {
    if (this.#facts.script.consumers.every(({ takesSteps }) => !takesSteps)) return;
    for (const { record, index } of this.#facts.records) {
      if (record.kind === "begun") this.#began(record, index);
      if (record.kind === "acting") this.#acting(record, index);
      if (record.kind === "acted" || record.kind === "stepped") this.#noted(record, index);
      if (record.kind === "effect") this.#marked(record);
    }
  }

  #began({ consumer, number }: SightingOf<"begun">, index: number): void {
    const run = (this.#runs.get(`${consumer} ${number}`) ?? 0) + 1;
    this.#runs.set(`${consumer} ${number}`, run);
    this.#beganAt.set(`${consumer} ${number} ${run}`, index);
  }

  #acting({ isChecked, ...of }: SightingOf<"acting">, index: number): void {
    const began = this.#beganOf(of);
    const { acted = Infinity, stepped = Infinity } = this.#known.get(of.idem) ?? {};
    // What was known before is forgotten with its event.
    if (this.#forgottenSince(of.number, Math.min(acted, stepped), index)) return;
    const what = `the step ${of.step} of event ${of.number} at ${of.consumer}`;
    if (stepped < began) this.#report("W11 step", `${what} is done again, and its result was kept`);
    else if (isChecked && acted < began)
      this.#report("W11 step", `${what} is done twice, and could be found`);
  }

  #noted(record: SightingOf<"acted" | "stepped">, index: number): void {
    const { number, consumer, idem } = record;
    if (record.kind === "acted") this.#effects.add(`${consumer} ${number} ${record.effect}`);
    // The beginning of its steps went with its event.
    if (this.#forgottenSince(number, this.#beganOf(record), index)) return;
    const known = this.#known.get(idem);
    const isOld =
      known !== undefined && this.#forgottenSince(number, Math.min(known.acted, known.stepped), index);
    const { acted, stepped } = known === undefined || isOld ? { acted: Infinity, stepped: Infinity } : known;
    const at = (kind: "acted" | "stepped", before: number): number =>
      record.kind === kind ? Math.min(before, index) : before;
    this.#known.set(idem, { acted: at("acted", acted), stepped: at("stepped", stepped) });
  }

  #marked({ consumer, number, charge }: SightingOf<"effect">): void {
    const plan = this.#facts.script.consumers.find(({ name }) => name === consumer);
    if (plan?.takesSteps !== true || this.#effects.has(`${consumer} ${number} ${charge}`)) return;
    this.#report(
      "W11 step",
      `event ${number} at ${consumer} is marked with ${charge}, which nobody has done for it`,
    );
  }

  #beganOf({ consumer, number, run }: OfStep): number {
    return this.#beganAt.get(`${consumer} ${number} ${run}`) ?? Infinity;
  }

  #forgottenSince(number: number, from: number, to: number): boolean {
    return (this.#facts.forgotten.get(number) ?? []).some((at) => at > from && at < to);
  }
}
