import { signal } from "@preact/signals";
import type { Operation } from "posthorn/client";
import { basePath } from "../../place/base-path.ts";
import { count, grouped, oneLine } from "../../words/format.ts";

const KEY = `posthorn-operations${basePath}`;
const MOST = 4;

/** Operations that are shown at the foot of every page until they are dismissed. The server runs them; a reload changes nothing. */
export const watched = signal<readonly string[]>(remembered());

function remembered(): readonly string[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as unknown;
    return Array.isArray(kept) ? kept.filter((id) => typeof id === "string").slice(-MOST) : [];
  } catch {
    // Storage may be switched off, or hold something else.
    return [];
  }
}

function keep(ids: readonly string[]): void {
  watched.value = ids;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(ids));
  } catch {
    // Then they are shown until the next load.
  }
}

export function watch(id: string): void {
  if (!watched.value.includes(id)) keep([...watched.value, id].slice(-MOST));
}

export function dismissOperation(id: string): void {
  keep(watched.value.filter((each) => each !== id));
}

export function isUnderWay({ state }: Pick<Operation, "state">): boolean {
  return state === "running" || state === "stopping";
}

const VERBS = { redrive: "Redrive", skip: "Skip", cancel: "Cancel", replay: "Replay" } as const;

/** "Redrive 97 to pharmacy". */
export function operationTitle({ verb, plan }: Pick<Operation, "verb" | "plan">): string {
  const [only] = plan.endpoints;
  const to =
    plan.endpoints.length === 1 ? oneLine(only?.id ?? "", 30) : count(plan.endpoints.length, "endpoint");
  return `${VERBS[verb]} ${grouped(plan.count)} ${verb === "redrive" ? "to" : "of"} ${to}`;
}

const GOOD: ReadonlySet<string> = new Set(["in_place", "at_end", "skipped", "cancelled", "staged"]);

/** How many came to what they were meant for, and how many had changed before their turn. */
export function tallyOf({ results }: Pick<Operation, "results">): {
  readonly good: number;
  readonly other: number;
} {
  const all = Object.entries(results).filter(([result]) => result !== "pending");
  const sum = (some: typeof all): number => some.reduce((total, [, n]) => total + n, 0);
  const good = sum(all.filter(([result]) => GOOD.has(result)));
  return { good, other: sum(all) - good };
}

const DONE = {
  redrive: "due again",
  skip: "skipped",
  cancel: "cancelled",
  replay: "to be handled again",
} as const;

export function doneWord({ verb }: Pick<Operation, "verb">): string {
  return DONE[verb];
}
