import type { DeadPolicy } from "../../library/src/lanes/dead.js";
import { fieldsOf } from "../script/script.js";
import type { NodePlan, StoreFault } from "../script/script.js";

/** What a handler meets with one event, the first times that it runs. */
export type TroubleKind =
  | "throws"
  | "slow"
  | "hangs"
  /** Throws what the consumer's rule answers with a pause of the whole consumer. */
  | "pauses"
  /** Throws what the consumer's rule answers with a skip. */
  | "skips"
  /** Asks for its event again, later. */
  | "again"
  /** Its process dies of it. */
  | "kills"
  /** Throws what the consumer's rule gives up at once. */
  | "hopeless"
  /** Throws what the consumer's rule tries again at once, so often and no more. */
  | "collides"
  /** Its process dies when a step is done at the other side, and nobody has written that down. */
  | "kills_in_step";

export interface Trouble {
  readonly consumer: string;
  readonly kind: TroubleKind;
  /** How often, before all is well. */
  readonly times: number;
}

/** One event of a stream, as its provider sends it. */
export interface StreamedEvent {
  /** Its name in the run: its body carries it. */
  readonly number: number;
  readonly type: "order.paid" | "order.new" | "note.seen";
  readonly key: string | undefined;
  /** Where it stands among the events of its key at its origin. */
  readonly version: number;
  readonly trouble?: Trouble | undefined;
  /** Whether the first consumer publishes an event of its own in its transaction. */
  readonly passesOn: boolean;
  /** How long a long handler works at it. */
  readonly worksMs: number;
}

/** What happens to one request of the provider. */
export type Trip = "arrives" | "lost_request" | "lost_answer" | "doubled" | "late";

export type ConsumerKind = "plain" | "batch" | "newest" | "drop_stale" | "long";

/** A consumer of stored events. */
export interface ConsumerPlan {
  readonly name: string;
  readonly kind: ConsumerKind;
  readonly order: "key" | "none";
  readonly waitsMs: readonly number[];
  readonly dead: DeadPolicy | undefined;
  /** For how long a dependency that is down pauses it. */
  readonly pauseMs: number;
  /** Whether its handlers, which are long, do something at another side in steps. */
  readonly takesSteps: boolean;
}

export interface WorkerNodePlan extends Pick<NodePlan, "skewMs" | "rate"> {
  /** The first version of the host has no handler for `order.new`. */
  readonly version: 1 | 2;
}

/** One thing that is done to the system, or by its users. */
export type StoredStep = { readonly at: number } & (
  | { readonly kind: "send"; readonly event: StreamedEvent; readonly trips: readonly Trip[] }
  | { readonly kind: "crash"; readonly node: number; readonly forMs: number }
  | { readonly kind: "restart"; readonly node: number; readonly forMs: number }
  | { readonly kind: "stop"; readonly node: number; readonly forMs: number }
  | { readonly kind: "clock"; readonly node: number; readonly byMs: number }
  | { readonly kind: "store"; readonly node: number; readonly call: string; readonly how: StoreFault }
  | { readonly kind: "power"; readonly unsyncedMs: number; readonly forMs: number }
  | { readonly kind: "redrive"; readonly node: number; readonly clicks: number }
  | { readonly kind: "skip"; readonly node: number; readonly clicks: number }
  | { readonly kind: "replay"; readonly node: number; readonly clicks: number; readonly rows: number }
  | { readonly kind: "pause"; readonly node: number; readonly consumer: string; readonly forMs: number }
  | { readonly kind: "resume"; readonly node: number; readonly consumer: string }
  /** Another body under the id of an event that was acknowledged. */
  | { readonly kind: "conflict"; readonly event: StreamedEvent; readonly of: number }
  | { readonly kind: "redrive_refused"; readonly node: number; readonly clicks: number }
  /** Of the rows that were applied, newest first, the one of this number. */
  | { readonly kind: "forget"; readonly node: number; readonly nth: number }
  | { readonly kind: "release"; readonly node: number; readonly clicks: number }
  /** After so many effects have vanished from the host's table, and so many were made by hand. */
  | {
      readonly kind: "reconcile";
      readonly node: number;
      readonly consumer: string;
      readonly vanish: number;
      readonly byHand: number;
    }
  /** Of the handler that is gone, and of one that is not. */
  | { readonly kind: "remove"; readonly node: number }
);

/** A whole run of a stream that is stored first: the same script is the same run, to the last record. */
export interface StoredScript {
  readonly seed: number;
  readonly nodes: readonly WorkerNodePlan[];
  readonly consumers: readonly ConsumerPlan[];
  /** Undefined: events are handled as they come. */
  readonly hold: { readonly maxEvents: number; readonly maxMs: number } | undefined;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly slots: number;
  /** Whether a receiver's hint reaches the worker of its process. */
  readonly hints: boolean;
  /** Whether processes deliver, too, what handlers publish. */
  readonly delivers: boolean;
  /** Whether a handler is registered that no version of the host has any more. */
  readonly hasGone: boolean;
  readonly steps: readonly StoredStep[];
  /** From here on nothing new goes wrong. */
  readonly healAt: number;
}

/** The events that a script's provider sends, by their numbers. */
export function eventsOf({ steps }: Pick<StoredScript, "steps">): ReadonlyMap<number, StreamedEvent> {
  return new Map(
    steps.flatMap((step) =>
      step.kind === "send" || step.kind === "conflict" ? [[step.event.number, step.event]] : [],
    ),
  );
}

/** The script as lines that a person reads. */
export function printStoredScript(script: StoredScript): string {
  const { nodes, consumers, steps, ...fields } = script;
  return [
    fieldsOf(fields),
    ...nodes.map((node, index) => `  node ${index}: ${fieldsOf(node)}`),
    ...consumers.map(({ name, ...consumer }) => `  consumer ${name}: ${fieldsOf(consumer)}`),
    ...steps.map(
      ({ at, kind, ...rest }) => `  ${String(at).padStart(6)} ms  ${kind.padEnd(8)} ${fieldsOf(rest)}`,
    ),
  ].join("\n");
}
