import type { Endpoint, EndpointState, Order } from "../../../outbox/endpoint.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import type { Parameter, Row } from "../client/database.js";
import { withoutNul } from "../client/identifiers.js";

/** An endpoint, and the number by which rows refer to it. */
export interface StoredEndpoint {
  readonly number: bigint;
  readonly endpoint: Endpoint;
}

/** What of an endpoint no query looks at. */
type Definition = Pick<Endpoint, "url" | "secrets" | "sources" | "types" | "retry">;

export const ENDPOINT_COLUMNS =
  "id::text, public_id, tenant, definition, ordered_by, dead, max_in_flight::text, state, because, version::text";

export function storedEndpointOf(row: Row): StoredEndpoint {
  const [number, id, tenant, definition, order, dead, maxInFlight, state, because, version] = row;
  return {
    number: BigInt(number ?? ""),
    endpoint: {
      ...(JSON.parse(definition ?? "") as Definition),
      id: id ?? "",
      tenant: tenant ?? "",
      order: order as Order,
      dead: (dead ?? undefined) as DeadPolicy | undefined,
      maxInFlight: Number(maxInFlight),
      state: state as EndpointState,
      because: because ?? undefined,
      version: Number(version),
    },
  };
}

/** As the parameters $1 to $9: id, tenant, definition, order, dead, in flight, state, because, version. */
export function endpointParams(endpoint: Endpoint): Parameter[] {
  const { url, secrets, sources, types, retry, dead, because } = endpoint;
  const definition: Definition = { url, secrets, sources, types, retry };
  return [
    endpoint.id,
    endpoint.tenant,
    // JSON escapes NUL, which Postgres has no room for.
    JSON.stringify(definition),
    endpoint.order,
    dead ?? null,
    String(endpoint.maxInFlight),
    endpoint.state,
    because === undefined ? null : withoutNul(because),
    String(endpoint.version),
  ];
}
