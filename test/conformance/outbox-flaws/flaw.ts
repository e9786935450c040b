import type { MemoryOutbox } from "posthorn/memory";
import type { FakeClock } from "posthorn/testing";

/** One way in which an outbox can be wrong, as a change of the memory outbox. */
export interface Flaw {
  /** Exchanges methods of its parts, for every outbox that is made until `undo`. */
  readonly mutate?: (swaps: Swaps) => void;
  /** Answers some calls in its place. */
  readonly wrap?: (inner: MemoryOutbox, clock: FakeClock) => Partial<MemoryOutbox>;
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
export function flawed(inner: MemoryOutbox, clock: FakeClock, { wrap }: Flaw): MemoryOutbox {
  const answers = wrap?.(inner, clock) ?? {};
  return new Proxy(inner, {
    get(target, name) {
      const own = answers[name as keyof MemoryOutbox];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

export function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
