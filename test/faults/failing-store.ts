import type { InboxStore } from "posthorn";

/** How a call fails: at once, never, or after it has done what it was asked. */
export type Failure = "reject" | "hang" | "reject_after_applying";

const VERBS = ["find", "accept", "fail", "refuse", "touch", "flush", "read", "purge"] as const;
type Verb = (typeof VERBS)[number];

/** A store of which one call fails. */
export interface FailingStore<Tx> {
  readonly store: InboxStore<Tx, "asynchronous">;
  /** The calls so far, by name. */
  readonly calls: readonly Verb[];
}

/** Wraps a store so that its nth call fails. */
export function failNthCall<Tx>(
  inner: InboxStore<Tx, "asynchronous">,
  nth: number,
  failure: Failure,
): FailingStore<Tx> {
  const calls: Verb[] = [];
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (!isVerb(name)) return call;
      return (...args: unknown[]): unknown => {
        calls.push(name);
        if (calls.length !== nth) return call(...args);
        // The only verb without a promise: it fails by a throw, and cannot hang.
        return name === "touch" ? touch(failure, () => call(...args)) : fail(failure, () => call(...args));
      };
    },
  });
  return { store, calls };
}

function isVerb(name: string | symbol): name is Verb {
  return (VERBS as readonly (string | symbol)[]).includes(name);
}

function touch(failure: Failure, call: () => unknown): void {
  if (failure === "reject_after_applying") call();
  throw new Error(`as asked: ${failure}`);
}

async function fail(failure: Failure, call: () => unknown): Promise<unknown> {
  if (failure === "hang") return new Promise<never>(() => undefined);
  if (failure === "reject_after_applying") await call();
  throw new Error(`as asked: ${failure}`);
}
