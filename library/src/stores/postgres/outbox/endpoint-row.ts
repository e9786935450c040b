import type { DeadPolicy } from "../../../lanes/dead.js";
import type { Endpoint, EndpointState, Order } from "../../../outbox/endpoint.js";
import { textArray } from "../client/column-arrays.js";
import { bigint, columns, instant, number, optional, text } from "../client/columns.js";
import type { Columns } from "../client/columns.js";
import type { Parameter, Row, Session } from "../client/database.js";
import { withoutNul } from "../client/identifiers.js";
import type { Tables } from "../schema/tables.js";
import { stateNow } from "./consumer-state.js";

/** An endpoint, and the number by which rows refer to it as their consumer. */
export interface StoredEndpoint {
  readonly number: bigint;
  readonly endpoint: Endpoint;
}

/** What of an endpoint no query looks at. */
type Definition = Pick<Endpoint, "url" | "secrets" | "sources" | "types" | "retry">;

export interface ConsumerValues {
  readonly number: bigint;
  readonly id: string;
  readonly tenant: string;
  readonly definition: string;
  readonly order: Order;
  readonly dead: DeadPolicy | undefined;
  /** Of an endpoint: a handler has none. */
  readonly maxInFlight: number;
  readonly state: EndpointState;
  readonly because: string | undefined;
  readonly pausedUntil: Date | undefined;
  readonly pausedBy: string | undefined;
  readonly version: number;
  readonly mark: string;
}

/** The columns that endpoints and handlers have in common. */
export const CONSUMER: Columns<ConsumerValues> = columns<ConsumerValues>({
  number: bigint("id"),
  id: text("public_id"),
  tenant: text("tenant"),
  definition: text("definition"),
  order: text("ordered_by"),
  dead: optional(text("dead")),
  maxInFlight: number("coalesce(max_in_flight, 0)"),
  state: text(stateNow("consumer")),
  because: optional(text(`case when ${stateNow("consumer")} = 'active' then null else because end`)),
  pausedUntil: optional(
    instant("case when state = 'paused' and paused_until > clock_timestamp() then paused_until end"),
  ),
  pausedBy: optional(text(`case when ${stateNow("consumer")} = 'paused' then paused_by end`)),
  version: number("version"),
  mark: text("mark::text"),
});

export const ENDPOINT_COLUMNS: string = CONSUMER.list;

export function storedEndpointOf(row: Row): StoredEndpoint {
  const { number: consumer, definition, pausedUntil: _, pausedBy: __, ...values } = CONSUMER.read(row);
  return { number: consumer, endpoint: { ...(JSON.parse(definition) as Definition), ...values } };
}

/** The endpoints of these ids, in the order of their ids. */
export async function readStored(
  session: Session,
  ids: readonly string[],
  { consumer }: Tables,
): Promise<readonly StoredEndpoint[]> {
  const { rows } = await session.query({
    text: `
      select ${ENDPOINT_COLUMNS} from ${consumer}
      where public_id = any ($1::text[]) and kind = 'endpoint' and removed_at is null order by public_id`,
    params: [textArray(ids)],
  });
  return rows.map(storedEndpointOf);
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
