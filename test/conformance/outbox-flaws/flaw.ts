import type { MemoryStore } from "posthorn/memory";
import type { FakeClock } from "posthorn/testing";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type { Lane, LaneChange } from "../../../library/src/lanes/lane.js";
import { History } from "../../../library/src/stores/memory/lanes/history.js";

/** One way in which an outbox can be wrong, as a change of the memory store. */
export interface Flaw {
  /** Exchanges methods of its parts, for every outbox that is made until `undo`. */
  readonly mutate?: (swaps: Swaps) => void;
  /** Answers some calls in its place. */
  readonly wrap?: (inner: MemoryStore, clock: FakeClock) => Partial<MemoryStore>;
}

/** Methods that were exchanged, and how to have the right ones back. */
export class Swaps {
  readonly #undo: (() => void)[] = [];

  swap<T extends object, K extends keyof T>(target: T, name: K, broken: (right: T[K]) => T[K]): void {
    const right = target[name];
    target[name] = broken(right);
    this.#undo.push(() => (target[name] = right));
  }

  undo(): void {
    for (const undo of this.#undo.splice(0).toReversed()) undo();
  }
}

/** The outbox with the flaw's answers in place of its own. */
export function flawed(inner: MemoryStore, clock: FakeClock, { wrap }: Flaw): MemoryStore {
  const answers = wrap?.(inner, clock) ?? {};
  return new Proxy(inner, {
    get(target, name) {
      const own = answers[name as keyof MemoryStore];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Alters every change of a lane that the rule decides. */
export function eachChange(swaps: Swaps, alter: (change: LaneChange, lane: Lane) => LaneChange): void {
  swaps.swap(LANE_RULE, "claimed", (right) => (lane, how) => alter(right(lane, how), lane));
  swaps.swap(
    LANE_RULE,
    "settled",
    (right) =>
      (lane, ...given) =>
        alter(right(lane, ...given), lane),
  );
  swaps.swap(LANE_RULE, "released", (right) => (lane) => alter(right(lane), lane));
  swaps.swap(LANE_RULE, "skipped", (right) => (lane, how) => {
    const change = right(lane, how);
    return typeof change === "string" ? change : alter(change, lane);
  });
}

/** The same, where the lane gets another head. */
export function eachPassing(swaps: Swaps, alter: (change: LaneChange, lane: Lane) => LaneChange): void {
  eachChange(swaps, (change, lane) => (change.head > lane.head ? alter(change, lane) : change));
}

/** Dead letters that are resolved like this stay listed. */
export function leaveDead(swaps: Swaps, resolved: "skipped" | "cancelled"): void {
  swaps.swap(
    History.prototype,
    "resolveDead",
    (right) =>
      function (this: History, id, at, how) {
        if (how !== resolved) right.call(this, id, at, how);
      },
  );
}

export function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
