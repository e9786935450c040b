/** Goals are written as they are read, `>= 3` or `<= 5`, in the suite, in the table and in the JSON. */
export type Goal = `${">=" | "<="} ${number}`;

export interface Judged {
  readonly name: string;
  readonly value: number;
  /** Null where the figure is reported only. */
  readonly goal: Goal | null;
  readonly met: boolean;
}

/** Judges a value. Without a goal it is met; a value that is not a number meets none, so that a broken measurement cannot pass. */
export function judge(name: string, value: number, goal: Goal | undefined): Judged {
  return { name, value, goal: goal ?? null, met: goal === undefined || meets(value, goal) };
}

export function meets(value: number, goal: Goal): boolean {
  const bound = Number(goal.slice(3));
  return goal.startsWith(">=") ? value >= bound : value <= bound;
}

/** One line for each goal that was missed, with all digits: rounded, 0.7496 would read as the 0.75 it missed. */
export function misses(judged: readonly Judged[]): string[] {
  return judged
    .filter((each) => !each.met)
    .map((each) => `goal not met: ${each.name} is ${each.value}, goal ${each.goal ?? "none"}`);
}

/** Three decimals under 10, one above: what a reader can compare with a goal at a glance. */
export function showValue(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}
