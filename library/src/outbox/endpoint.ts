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
  /** Grows with each change: whoever has an older one reads it again. */
  readonly version: number;
}

/** What of an endpoint can be changed. A change of patterns or order holds for events that are sequenced after it. */
export type EndpointChange = Partial<Omit<Endpoint, "id" | "tenant" | "version">>;
