import type { LaneSummary } from "../../../operator/lookup-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import type { Row } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

/** Lists lanes in which something waits, in the order of their ids. */
export async function listLanes(
  transactions: OwnTransactions,
  { endpointId, limit, after = "" }: Page & { readonly endpointId?: string | undefined },
  tables: OutboxTables,
): Promise<Paged<LaneSummary>> {
  const params = [/^\d{1,18}$/.test(after) ? after : "0", String(limit + 1)];
  const read = (picked: string, more: readonly string[]): Promise<readonly Row[]> =>
    readRows(transactions, lanesSql(picked, tables), [...params, ...more]);
  let rows = await read(...firstSteps(endpointId, limit, tables));
  // It has few of the lanes that come first; those that it has are read then.
  if (endpointId !== undefined && rows.length <= limit) rows = await read(waitingAtSql(tables), [endpointId]);
  const listed = rows.slice(0, limit);
  return {
    items: listed.map(laneSummaryOf),
    next: rows.length > limit ? (listed.at(-1)?.[0] ?? undefined) : undefined,
  };
}

// How many lanes are walked over for each that is wanted of one endpoint.
const STEPS = 20;

function firstSteps(
  endpointId: string | undefined,
  limit: number,
  tables: OutboxTables,
): [picked: string, more: readonly string[]] {
  if (endpointId === undefined) return [waitingSql(tables), []];
  return [waitingAmongSql(tables), [endpointId, String(limit * STEPS)]];
}

async function readRows(
  transactions: OwnTransactions,
  text: string,
  params: readonly string[],
): Promise<readonly Row[]> {
  return transactions.runFrom({ text, params, prepared: true }, (_scope, { rows }) => Promise.resolve(rows));
}

/** One lane; undefined where nothing waits in it. */
export async function readLane(
  transactions: OwnTransactions,
  id: bigint,
  tables: OutboxTables,
): Promise<LaneSummary | undefined> {
  const picked = "picked as materialized (select $1::text::int8 as lane_id)";
  const [row] = await readRows(transactions, lanesSql(picked, tables), [String(id)]);
  return row && laneSummaryOf(row);
}

// By steps from lane to lane in the index of what waits: lanes in which nothing does cost nothing.
function walkSql({ delivery }: OutboxTables): string {
  const next = (after: string): string => `(
        select delivery.lane_id from ${delivery} as delivery where delivery.lane_id > ${after}
        order by delivery.lane_id, delivery.seq limit 1
      )`;
  return `waiting (lane_id) as (
      select ${next("$1::text::int8")}
      union all
      select ${next("waiting.lane_id")} from waiting where waiting.lane_id is not null
    )`;
}

function waitingSql(tables: OutboxTables): string {
  return `${walkSql(tables)}, picked as materialized (
      select lane_id from waiting where lane_id is not null limit $2::text::int8
    )`;
}

function waitingAmongSql(tables: OutboxTables): string {
  return `${walkSql(tables)}, walked as materialized (
      select lane_id from waiting where lane_id is not null limit $4::text::int8
    ), picked as materialized (
      select walked.lane_id from walked cross join lateral (
        select endpoint_id from ${tables.laneState} as state where state.lane_id = walked.lane_id limit 1
      ) as state
      where endpoint_id = ${numberSql(tables)}
      order by walked.lane_id limit $2::text::int8
    )`;
}

function numberSql({ endpoint }: OutboxTables): string {
  return `(select id from ${endpoint} where public_id = $3::text and removed_at is null)`;
}

// All of the endpoint's lanes are read, and sorted then: no index has them in the order of their ids, and Postgres, left
// to choose, walks over the lanes of all endpoints in that order.
function waitingAtSql(tables: OutboxTables): string {
  const { laneState } = tables;
  const known = numberSql(tables);
  return `waiting as materialized (
      select lane_id from ${laneState} where endpoint_id = ${known} and ready_at is not null
    ), stopped as materialized (
      select lane_id from ${laneState} where endpoint_id = ${known} and blocked_at is not null and ready_at is null
    ), picked as materialized (
      select lane_id from (select lane_id from waiting union all select lane_id from stopped) as found
      where lane_id > $1::text::int8 order by lane_id limit $2::text::int8
    )`;
}

function lanesSql(picked: string, { endpoint, lane, laneState }: OutboxTables): string {
  const since = "coalesce(blocked_at, case when endpoint.state <> 'active' then stopped_at end)";
  return `
    with recursive ${picked}
    select state.lane_id::text, endpoint.tenant, endpoint.public_id, lane.key,
      case when state.state <> 'flowing' then state.state when endpoint.state <> 'active' then endpoint.state
        when blocked_at is not null then 'retrying' else 'flowing' end,
      (next_seq - head_seq)::text, head_seq::text, failures::text,
      greatest(0, extract(epoch from clock_timestamp() - ${since}) * 1000)::int8::text,
      (${since} is not null)::text,
      case when state.state = 'flowing' and endpoint.state = 'active' and ready_at is not null
        then ceil(greatest(0, extract(epoch from ready_at - clock_timestamp()) * 1000))::int8::text end
    from picked
    join ${laneState} as state on state.lane_id = picked.lane_id
    join ${lane} as lane on lane.lane_id = picked.lane_id
    join ${endpoint} as endpoint on endpoint.id = state.endpoint_id and removed_at is null
    where next_seq > head_seq
    order by state.lane_id`;
}

function laneSummaryOf(row: Row): LaneSummary {
  const [id, tenant, endpointId, key, state, depth, head, failures, blockedMs, isBlocked, dueInMs] = row;
  return {
    id: BigInt(id ?? ""),
    tenant: tenant ?? "",
    endpointId: endpointId ?? "",
    key: key ?? "",
    state: state as LaneSummary["state"],
    depth: BigInt(depth ?? ""),
    head: BigInt(head ?? ""),
    failures: Number(failures),
    blockedMs: isBlocked === "true" ? Number(blockedMs) : undefined,
    dueInMs: typeof dueInMs === "string" ? Number(dueInMs) : undefined,
  };
}
