/** How a call fails: at once, never, or after it has done what it was asked. */
export const WAYS = ["reject", "hang", "reject_after_applying"] as const;
export type Way = (typeof WAYS)[number];

export interface Failure {
  /** The first call is 1; 0 fails none. */
  readonly nth: number;
  readonly way: Way;
}

// Verbs without a promise: they fail by a throw, and cannot hang.
const SYNCHRONOUS: ReadonlySet<string> = new Set(["inbox.touch", "outbox.write"]);

export function canHang(call: string): boolean {
  return !SYNCHRONOUS.has(call);
}

/** Counts the calls to the stores of a run, and lets one of them fail. */
export class StoreCalls {
  /** So far, in their order. */
  readonly made: string[] = [];
  readonly #failure: Failure;
  readonly #onFailure: (call: string) => void;

  constructor(failure: Failure, onFailure: (call: string) => void) {
    this.#failure = failure;
    this.#onFailure = onFailure;
  }

  /** The store, with every call to it counted. */
  counted<Store extends object>(name: string, store: Store): Store {
    return new Proxy(store, {
      get: (target, verb) => {
        const value: unknown = Reflect.get(target, verb, target);
        if (typeof value !== "function") return value;
        const apply = value.bind(target) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => this.#call(`${name}.${String(verb)}`, () => apply(...args));
      },
    });
  }

  #call(call: string, apply: () => unknown): unknown {
    this.made.push(call);
    if (this.made.length !== this.#failure.nth) return apply();
    this.#onFailure(call);
    const { way } = this.#failure;
    return canHang(call) ? failing(way, apply) : thrown(way, apply);
  }
}

async function failing(way: Way, apply: () => unknown): Promise<never> {
  if (way === "hang") return new Promise(() => undefined);
  if (way === "reject_after_applying") await apply();
  throw new Error(`as asked: ${way}`);
}

function thrown(way: Way, apply: () => unknown): never {
  if (way === "reject_after_applying") apply();
  throw new Error(`as asked: ${way}`);
}
