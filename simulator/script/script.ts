import type { Order } from "../../library/src/outbox/endpoint.js";
import type { DeadPolicy } from "../../library/src/lanes/dead.js";

/** What a handler does with an event, the first time or always. */
export type HandlerPlan =
  | "works"
  | "slow"
  | "throws_once"
  | "throws_always"
  | "hangs_once"
  | "passes_on"
  /** No handler's doing: whatever process sends it dies of it, four times. */
  | "kills";

/** How an event is published: by itself, or in a transaction of the host. */
export type PublishHow = "append" | "commit" | "rollback";

/** One event of a run. */
export interface EventPlan {
  /** Its name in the run: its body carries it. */
  readonly number: number;
  readonly type: string;
  readonly key: string | undefined;
  /** Whether the caller gives the id; else it is made by the sender. */
  readonly idGiven: boolean;
  readonly handler: HandlerPlan;
  readonly deliverAfterMs?: number;
  readonly expiresAfterMs?: number;
}

/** What can go wrong with one call of a store. */
export type StoreFault =
  /** Refused, and nothing was done. */
  | "reject"
  /** Done, and the answer is lost. */
  | "lost"
  /** Nothing was done, and the answer does not come for long. */
  | "hang"
  /** Done at once; the answer comes when the lease may be over. */
  | "late"
  /** Done late: what was asked before may be done after what was asked later. */
  | "slow";

/** What can go wrong with one request on its way. */
export type WireFault =
  /** Its process stands still between the look at the lease and the first byte, perhaps past its end. */
  | "held"
  | "refused"
  | "lost_request"
  | "lost_answer"
  | "duplicate"
  | "late"
  | "status_500"
  | "status_429"
  | "status_413"
  | "status_410";

/** One thing that is done to the system, or by its users. */
export type Step = { readonly at: number } & (
  | {
      readonly kind: "publish";
      readonly node: number;
      readonly how: PublishHow;
      /** Whether the host publishes all of it a second time, as after a restart that forgot the first. */
      readonly twice: boolean;
      readonly events: readonly EventPlan[];
    }
  | { readonly kind: "crash"; readonly node: number; readonly forMs: number }
  | { readonly kind: "restart"; readonly node: number; readonly forMs: number }
  | { readonly kind: "stop"; readonly node: number; readonly forMs: number }
  | { readonly kind: "clock"; readonly node: number; readonly byMs: number }
  | { readonly kind: "store"; readonly node: number; readonly call: string; readonly how: StoreFault }
  | { readonly kind: "wire"; readonly node: number; readonly how: WireFault }
  | { readonly kind: "cut"; readonly node: number; readonly forMs: number }
  | {
      readonly kind: "power";
      readonly database: number;
      readonly unsyncedMs: number;
      readonly forMs: number;
    }
  | { readonly kind: "redrive"; readonly node: number; readonly clicks: number; readonly all: boolean }
  | { readonly kind: "skip"; readonly node: number; readonly clicks: number }
  | { readonly kind: "pause"; readonly node: number; readonly forMs: number; readonly endpoint: number }
);

/** An endpoint of a run. */
export interface EndpointPlan {
  /** The source under which its receivers know it, and its id. */
  readonly name: string;
  /** Whether its receivers run Posthorn, or something that somebody else has written. */
  readonly plain: boolean;
  readonly types: readonly string[];
  readonly order: Order;
  readonly dead: DeadPolicy | undefined;
  readonly waitsMs: readonly number[];
  readonly maxInFlight: number;
}

export interface NodePlan {
  /** Of the first database nodes publish; at the second they receive. */
  readonly database: number;
  readonly skewMs: number;
  readonly rate: number;
}

/** A whole run: the same script is the same run, to the last record. */
export interface Script {
  readonly seed: number;
  readonly nodes: readonly NodePlan[];
  readonly endpoints: readonly EndpointPlan[];
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly slots: number;
  /** How many events are sequenced at once. */
  readonly batch: number;
  /** Which hints reach the dispatcher of the process that publishes. */
  readonly hints: "all" | "committed" | "none";
  readonly steps: readonly Step[];
  /** From here on nothing new goes wrong. */
  readonly healAt: number;
}

/** The script as lines that a person reads. */
export function printScript(script: Script): string {
  const { seed, nodes, endpoints, leaseMs, pollMs, slots, batch, hints, healAt, steps } = script;
  return [
    `seed ${seed}: lease ${leaseMs} ms, poll ${pollMs} ms, ${slots} slots, batches of ${batch}, hints: ${hints}, healed at ${healAt} ms`,
    ...nodes.map((node, index) => `  node ${index}: ${fieldsOf(node)}`),
    ...endpoints.map(({ name, ...endpoint }) => `  endpoint ${name}: ${fieldsOf(endpoint)}`),
    ...steps.map(printStep),
  ].join("\n");
}

function printStep({ at, kind, ...fields }: Step): string {
  return `  ${String(at).padStart(6)} ms  ${kind.padEnd(8)} ${fieldsOf(fields)}`;
}

/** The fields of a part of a script, as a person reads them. */
export function fieldsOf(fields: object): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(", ");
}
