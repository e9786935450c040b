import { setImmediate as pause } from "node:timers/promises";
import { figuresOf } from "./figures.js";
import type { Figure } from "./figures.js";
import { judge } from "./goals.js";
import { median, middleHalf, ratioPerRound } from "./median.js";
import { orderOfRound } from "./order.js";
import { select, timedMs, type Selection } from "./plan.js";
import type { Progress } from "./progress.js";
import type { JudgedRatio, Outcome } from "./report.js";
import type { Ratio, Suite } from "./suite.js";
import { Runner } from "./turn.js";

export interface RunOptions {
  readonly quick: boolean;
  readonly progress: Progress;
  /** Ends the run between two turns, so that servers and databases are still closed. */
  readonly signal: AbortSignal;
}

type CloseStep = () => void | Promise<void>;

/** Opens the suite, measures it and closes it again, however the measuring ends. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<Outcome> {
  const closing: CloseStep[] = [];
  const context = {
    quick: options.quick,
    say: (text: string) => options.progress.say(text),
    onClose: (step: CloseStep) => void closing.push(step),
  };
  try {
    const selection = select(suite, await suite.cases(context), options.quick);
    for (const { name, missing = "" } of selection.missing)
      options.progress.say(`left out: ${name}, because ${missing}`);
    for (const each of selection.cases) {
      // Before the setup: one that fails half-way has opened something too.
      closing.push(async () => each.teardown?.());
      await each.setup?.();
    }
    return await measure(selection, options);
  } finally {
    await closeAll(closing, options.progress);
  }
}

async function measure(selection: Selection, { progress, signal }: RunOptions): Promise<Outcome> {
  const { plan, cases } = selection;
  progress.say(
    `${cases.length} cases, ${plan.rounds} interleaved rounds, ${Math.ceil(timedMs(selection) / 1000)} s of turns`,
  );
  const runners = cases.map((each) => new Runner(each));
  const total = cases.length * (plan.rounds + 1);
  let done = 0;
  const step = async (label: string): Promise<void> => {
    // Loops never leave the thread: without this pause Ctrl-C would be heard after the last round.
    await pause();
    signal.throwIfAborted();
    progress.step({ done, total, label });
    done += 1;
  };
  for (const runner of runners) {
    await step(`warming up ${runner.measured.name}`);
    await runner.warmUp(plan.warmupMs);
  }
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const runner of inOrder(runners, round)) {
      await step(`round ${round + 1} of ${plan.rounds}, ${runner.measured.name}`);
      await runner.takeTurn(plan.turnMs);
    }
  }
  progress.step({ done, total, label: "measuring limits" });
  return conclude(selection, runners);
}

async function conclude(selection: Selection, runners: readonly Runner[]): Promise<Outcome> {
  const cases = new Map(runners.map(({ measured, turns }) => [measured.name, figuresOf(measured, turns)]));
  const ratios = selection.ratios.map((ratio) =>
    judgeRatio(ratio, (name, figure) => (cases.get(name)?.rounds ?? []).map((round) => round[figure])),
  );
  const limits = [];
  for (const { name, goal, ...limit } of selection.limits) {
    limits.push(judge(name, await limit.measure(cases), goal));
  }
  return { rounds: selection.plan.rounds, cases: [...cases.values()], ratios, limits };
}

function judgeRatio(ratio: Ratio, roundsOf: (name: string, figure: Figure) => number[]): JudgedRatio {
  const { figure = "perSecond", toFigure = figure } = ratio;
  const quotients = ratioPerRound(roundsOf(ratio.of, figure), roundsOf(ratio.to, toFigure));
  return { ...judge(ratio.name, median(quotients), ratio.goal), ...middleHalf(quotients) };
}

function inOrder(runners: readonly Runner[], round: number): Runner[] {
  return orderOfRound(runners.length, round).flatMap((index) => runners[index] ?? []);
}

/** Runs every step even if one fails, and only tells of it: thrown from here, it would hide what failed first. */
async function closeAll(steps: readonly CloseStep[], progress: Progress): Promise<void> {
  for (const step of steps.toReversed()) {
    try {
      await step();
    } catch (error) {
      progress.say(`closing failed: ${String(error)}`);
    }
  }
}
