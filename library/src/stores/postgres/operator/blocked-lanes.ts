import type { BlockedLane, BlockedState, Page, Paged } from "../../../operator/operator-store.js";
import type { Row } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6})_(\d{1,19})$/;

/** Lists lanes that do not move, longest blocked first. */
export async function listBlocked(
  transactions: OwnTransactions,
  { limit, after = "" }: Page,
  tables: OutboxTables,
): Promise<Paged<BlockedLane>> {
  const [, since = null, laneId = null] = CURSOR.exec(after) ?? [];
  const { rows } = await transactions.read({
    text: blockedSql(tables),
    params: [since, laneId, String(limit + 1)],
  });
  const listed = rows.slice(0, limit);
  return {
    items: listed.map(blockedLaneOf),
    next: rows.length > limit ? (listed.at(-1)?.[0] ?? undefined) : undefined,
  };
}

/** What comes after the page before. */
function past(since: string): string {
  return `
          ($1::text is null or (${since}, state.lane_id) > ($1::text::timestamp at time zone 'utc', $2::text::int8))`;
}

// Lanes whose head has failed are read in the order of their index; those of a stopped endpoint all have its time.
function blockedSql({ endpoint, event, lane, laneState, delivery }: OutboxTables): string {
  return `
    with blocked as (
      (
        select state.*, blocked_at as since from ${laneState} as state
        where blocked_at is not null and ${past("blocked_at")}
        order by blocked_at, lane_id limit $3::text::int8
      )
      union all
      (
        select state.*, stopped_at as since from ${endpoint} as endpoint
        join ${laneState} as state on state.endpoint_id = endpoint.id and state.ready_at is not null
        where endpoint.state <> 'active' and removed_at is null and blocked_at is null and ${past("stopped_at")}
        order by stopped_at, lane_id limit $3::text::int8
      )
    )
    select to_char(since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '_' || blocked.lane_id,
      blocked.lane_id::text, endpoint.tenant, endpoint.public_id, lane.key,
      case when blocked.state <> 'flowing' then blocked.state when endpoint.state <> 'active' then endpoint.state
        else 'retrying' end,
      (next_seq - head_seq)::text, head_seq::text, event.public_id,
      greatest(0, extract(epoch from clock_timestamp() - since) * 1000)::int8::text, failures::text,
      case when blocked.state = 'flowing' and endpoint.state = 'active'
        then greatest(0, extract(epoch from ready_at - clock_timestamp()) * 1000)::int8::text end
    from blocked
    join ${endpoint} as endpoint on endpoint.id = blocked.endpoint_id and removed_at is null
    join ${lane} as lane on lane.lane_id = blocked.lane_id
    left join ${delivery} as delivery on delivery.lane_id = blocked.lane_id and delivery.seq = blocked.head_seq
    left join ${event} as event on event.id = delivery.event_id
    order by since, blocked.lane_id limit $3::text::int8`;
}

function blockedLaneOf(row: Row): BlockedLane {
  const [, id, tenant, endpointId, key, state, depth, head, eventId, blockedMs, failures, dueInMs] = row;
  return {
    id: BigInt(id ?? ""),
    tenant: tenant ?? "",
    endpointId: endpointId ?? "",
    key: key ?? "",
    state: state as BlockedState,
    depth: BigInt(depth ?? ""),
    head: BigInt(head ?? ""),
    headEventId: eventId ?? "",
    blockedMs: Number(blockedMs),
    failures: Number(failures),
    dueInMs: typeof dueInMs === "string" ? Number(dueInMs) : undefined,
  };
}
