import type { Endpoint, EndpointState, Order } from "../../../outbox/endpoint.js";
import type { HandlerVersion, RegisteredHandler } from "../../../lanes/handler-consumer.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import type { RetryPolicy } from "../../../work/retry-policy.js";
import type { SqliteValue } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";

/** All columns of posthorn_consumer, as a wide statement reads them. */
export interface EndpointColumns {
  readonly id: bigint;
  readonly public_id: string;
  readonly kind: "endpoint" | "handler";
  readonly tenant: string;
  readonly url: string;
  readonly secrets: string;
  readonly sources: string;
  readonly types: string;
  readonly versions: string | null;
  readonly ordered_by: Order;
  readonly retry: string;
  readonly dead: DeadPolicy | null;
  /** Null of a handler. */
  readonly max_in_flight: bigint | null;
  readonly state: EndpointState;
  readonly because: string | null;
  readonly version: bigint;
  readonly stopped_at: bigint | null;
  readonly paused_until: bigint | null;
  readonly paused_by: string | null;
}

/** The endpoint with its secrets as they were written: sealed, where there is a seal. */
export function endpointOf(columns: EndpointColumns): Endpoint {
  return Object.freeze({
    id: columns.public_id,
    tenant: columns.tenant,
    url: columns.url,
    secrets: texts(columns.secrets),
    sources: texts(columns.sources),
    types: texts(columns.types),
    order: columns.ordered_by,
    retry: JSON.parse(columns.retry) as RetryPolicy,
    dead: columns.dead ?? undefined,
    maxInFlight: Number(columns.max_in_flight),
    state: columns.state,
    because: columns.because ?? undefined,
    version: Number(columns.version),
  });
}

/** The handler of a row. */
export function handlerOf(columns: EndpointColumns): RegisteredHandler {
  return Object.freeze({
    kind: "handler",
    id: columns.public_id,
    sources: texts(columns.sources),
    versions: JSON.parse(columns.versions ?? "[]") as HandlerVersion[],
    order: columns.ordered_by === "none" ? "none" : "key",
    dead: columns.dead ?? undefined,
    state: columns.state,
    because: columns.because ?? undefined,
    pausedUntil: columns.paused_until === null ? undefined : new Date(Number(columns.paused_until)),
    pausedBy: columns.paused_by ?? undefined,
    version: Number(columns.version),
  });
}

/** What a row keeps of an endpoint, in the order in which insert and update name their columns. */
export function endpointValues(endpoint: Endpoint, stoppedAt: number | null): SqliteValue[] {
  const { tenant, url, secrets, sources, types, order, retry, dead, maxInFlight, state, because, version } =
    endpoint;
  return [
    withoutNul(tenant),
    withoutNul(url),
    JSON.stringify(secrets),
    JSON.stringify(sources),
    JSON.stringify(types),
    order,
    JSON.stringify(retry),
    dead ?? null,
    maxInFlight,
    state,
    because === undefined ? null : withoutNul(because),
    version,
    stoppedAt,
  ];
}

function texts(json: string): readonly string[] {
  return JSON.parse(json) as string[];
}
