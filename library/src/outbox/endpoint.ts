import { PosthornError } from "../posthorn-error.js";
import type { OutboxErrorCode } from "./outbox-errors.js";
import type { DeadPolicy } from "../lanes/dead.js";
import type { RetryPolicy } from "../work/retry-policy.js";

/** What is in order: the events of one key, all events of the endpoint, or none. */
export type Order = "key" | "endpoint" | "none";

/** `paused` by an operator, `disabled` because the receiver has gone; both keep what is waiting, in order. */
export type EndpointState = "active" | "paused" | "disabled";

/** Where events go. Checked and complete; `createEndpoint` of endpoint-options.ts makes one. */
export interface Endpoint {
  /** `ep_…` */
  readonly id: string;
  readonly tenant: string;
  readonly url: string;
  /** `whsec_` secrets and `whsk_` keys; all of them sign, so that a rotation drops nothing. */
  readonly secrets: readonly string[];
  /** Patterns of sources and of types: `*` stands for any text. An event must match one of each. */
  readonly sources: readonly string[];
  readonly types: readonly string[];
  readonly order: Order;
  readonly retry: RetryPolicy;
  /** Undefined: `halt` in a lane, `skip` where there is none. */
  readonly dead: DeadPolicy | undefined;
  /** How many attempts may be under way at once. */
  readonly maxInFlight: number;
  readonly state: EndpointState;
  /** Why it is disabled. */
  readonly because: string | undefined;
  /** Grows with each change: whoever has another one reads the endpoint again. */
  readonly version: number;
  /** Random, and another one with each change, where the store can lose changes in a failover: a version would be counted again. */
  readonly mark?: string | undefined;
}

/** An endpoint as it is shown: without its secrets, which one line of a route would else hand to whoever asks. */
export interface EndpointView extends Omit<Endpoint, "secrets"> {
  readonly secretCount: number;
}

/** What tells one state of an endpoint from every other. */
export type EndpointStamp = Pick<Endpoint, "id" | "version" | "mark">;

/** What of an endpoint can be changed. A change of patterns or order holds for events that are sequenced after it; one of the order is refused while anything waits. */
export type EndpointChange = Partial<Omit<Endpoint, "id" | "tenant" | "version" | "mark">>;

/** Whether a change gives the endpoint another order: to be asked by a store, which refuses it while anything waits. */
export function changesOrder(before: Pick<Endpoint, "order">, { order }: EndpointChange): boolean {
  return order !== undefined && order !== before.order;
}

/** What waits is in lanes of the old order, and what comes would be in others: it would overtake. */
export function orderRefused(before: Pick<Endpoint, "id" | "order">, { order }: EndpointChange): Error {
  return new PosthornError<OutboxErrorCode>(
    "endpoint_busy",
    `The order of ${before.id} cannot be changed from "${before.order}" to "${order}" while deliveries wait for it: later events would overtake them. Let them be delivered, or skip them, and change it then; or add another endpoint.`,
    { detail: { field: "order" } },
  );
}
