import type { Clock } from "./clock.js";
import type { Observer, Signal } from "./observer.js";

/** What a test has to know of a part that it was given, to say when nothing is left for it to do. */
export interface Party {
  readonly kind: "receiver" | "worker" | "sender" | "dispatcher";
  readonly store: object;
  readonly clock: Clock;
  /** Of a worker: the ids of the handlers whose lanes it takes. */
  readonly handlers?: readonly string[];
  /** Whether it has something under way in the background: time must not be turned then. */
  readonly isBusy?: () => boolean;
}

/** What was seen in this process: the parts that were made, and what each store's parts have reported. */
export interface Witness {
  readonly parties: WeakMap<object, Party>;
  readonly heard: WeakMap<object, Signal[]>;
}

// Undefined in production: only `posthorn/testing` begins it, so that nobody pays for what only tests ask.
let witness: Witness | undefined;

/** From now on every part that is made is known, and what it reports of events is kept. */
export function beginWitness(): Witness {
  return (witness ??= { parties: new WeakMap(), heard: new WeakMap() });
}

/** Makes a part known to tests. */
export function joinParties(part: object, party: Party): void {
  witness?.parties.set(part, party);
}

const KEPT: ReadonlySet<Signal["kind"]> = new Set(["event_received", "event_handled"]);

/** An observer that also keeps, for tests, what a part reports of events. */
export function witnessed(store: object, observer: Observer | undefined): Observer | undefined {
  if (witness === undefined) return observer;
  const heard = witness.heard.get(store) ?? [];
  witness.heard.set(store, heard);
  return (signal) => {
    if (KEPT.has(signal.kind)) heard.push(signal);
    return observer?.(signal);
  };
}
