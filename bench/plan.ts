import type { Case, Limit, Plan, Ratio, Suite } from "./suite.js";

export const MIN_ROUNDS = 5;
export const QUICK_BUDGET_MS = 45_000;

/** What one run includes, names resolved. */
export interface Selection {
  readonly plan: Plan;
  readonly cases: readonly Case[];
  readonly ratios: readonly Ratio[];
  readonly limits: readonly Limit[];
  /** Cases that the plan names and that cannot run here. */
  readonly missing: readonly Case[];
}

/** Resolves a plan. A misspelt name throws: it would drop a goal in silence, and the run would pass without it. */
export function select(suite: Suite, cases: readonly Case[], quick: boolean): Selection {
  const plan = quick ? suite.plans.quick : suite.plans.full;
  if (plan.rounds < MIN_ROUNDS) throw new Error(`A plan needs ${MIN_ROUNDS} rounds, found ${plan.rounds}.`);
  const all = new Set(cases.map((each) => each.name));
  if (all.size < cases.length) throw new Error("Two cases of the suite have the same name.");
  const wanted = new Set(plan.cases ?? all);
  const present = new Set(cases.filter((each) => each.missing === undefined).map((each) => each.name));
  const isRun = (name: string): boolean => wanted.has(name) && present.has(name);
  const limits = new Set(plan.limits ?? suite.limits.map((limit) => limit.name));
  const named = [...wanted, ...suite.ratios.flatMap((ratio) => [ratio.of, ratio.to])];
  refuseUnknown("case", named, all);
  refuseUnknown("limit", [...limits], new Set(suite.limits.map((limit) => limit.name)));
  const selection: Selection = {
    plan,
    cases: cases.filter((each) => isRun(each.name)),
    ratios: suite.ratios.filter((ratio) => isRun(ratio.of) && isRun(ratio.to)),
    limits: suite.limits.filter((limit) => limits.has(limit.name)),
    missing: cases.filter((each) => wanted.has(each.name) && !present.has(each.name)),
  };
  if (quick && timedMs(selection) > QUICK_BUDGET_MS) {
    throw new Error(
      `The quick plan takes ${timedMs(selection)} ms of turns alone; ${QUICK_BUDGET_MS} are allowed.`,
    );
  }
  return selection;
}

/** The time the plan spends in warm-ups and turns, where a fixed piece of work is taken for a turn; setup comes on top. */
export function timedMs({ plan, cases }: Pick<Selection, "plan" | "cases">): number {
  return cases.length * (plan.warmupMs + plan.rounds * plan.turnMs);
}

function refuseUnknown(kind: string, names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new Error(`The suite has no ${kind} "${unknown}"; it has: ${[...known].join("; ")}.`);
}
