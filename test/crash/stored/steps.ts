import type { AppliedRow, StepRow } from "./database.js";

/** The step that looks for its effect before it acts, and whose effect its handler's end is told. */
const CHECKED = "charge";

export interface StepHarms {
  readonly stepsDoubled: number;
  readonly stepsAgain: number;
  readonly stepsLost: number;
}

/** Judges the steps of long handlers, one idempotency key for each step of an event in a round. */
export function judgeSteps(
  applied: readonly AppliedRow[],
  steps: readonly StepRow[],
  cutOff: number,
): StepHarms {
  const marked = applied.filter(({ consumer }) => consumer === "jobs");
  const rounds = countBy(marked, (row) => `${row.key} ${row.place}`);
  const known = countBy(steps, ({ idem }) => idem);
  const keys = new Map<string, Set<string>>();
  for (const { key, place, step, idem } of steps) {
    const name = `${step} ${key} ${place}`;
    keys.set(name, (keys.get(name) ?? new Set()).add(idem));
  }
  let [stepsDoubled, again] = [0, 0];
  const isChecked = new Map(steps.map(({ idem, step }) => [idem, step === CHECKED]));
  for (const [idem, times] of known) {
    if (isChecked.get(idem) === true) stepsDoubled += times - 1;
    else again += times - 1;
  }
  // A key that differs from run to run lets the other side do everything again.
  for (const [name, idems] of keys) {
    const due = rounds.get(name.slice(name.indexOf(" ") + 1)) ?? 1;
    stepsDoubled += Math.max(0, idems.size - due);
  }
  const effects = new Set(
    steps.filter(({ step }) => step === CHECKED).map(({ key, place, effect }) => `${key} ${place} ${effect}`),
  );
  const stepsLost = marked.filter(({ key, place, effect }) => !effects.delete(`${key} ${place} ${effect}`));
  return { stepsDoubled, stepsAgain: Math.max(0, again - cutOff), stepsLost: stepsLost.length };
}

function countBy<Row>(rows: readonly Row[], nameOf: (row: Row) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + 1);
  return counts;
}
