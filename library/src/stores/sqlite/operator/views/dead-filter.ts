import type { DeadFilter, DeadGroupFilter } from "../../../../operator/dead-filter.js";
import type { SqliteValue } from "../../client/client.js";
import { isHandler, ownerOf } from "../../../../outbox/fan-out.js";
import type { Consumer } from "../../../../outbox/fan-out.js";
import { withoutNul } from "../../inbox/inbox-row.js";
import type { OutboxTurn } from "../../outbox/turn.js";

/** One group, as its counter has it: 0 and '' stand for no status and no error. */
export interface GroupColumns {
  readonly consumer: bigint;
  readonly because: string;
  readonly status: bigint;
  readonly error: string;
  readonly count: bigint;
}

/** The groups that a filter lets through. Groups are few: all of an endpoint, or of all endpoints, are read. */
export function groupsOf(turn: OutboxTurn, filter: DeadGroupFilter): readonly GroupColumns[] {
  const { tenant, endpointId, because, status, error } = filter;
  const { byNumber, numbers } = turn.consumers;
  const consumer = endpointId === undefined ? undefined : (numbers.get(endpointId) ?? 0n);
  const rows = (
    consumer === undefined
      ? turn.client.allWide("select consumer, because, status, error, count from posthorn_dead_group")
      : turn.client.allWide(
          "select consumer, because, status, error, count from posthorn_dead_group where consumer = ?",
          consumer,
        )
  ) as GroupColumns[];
  return rows.filter((row) => {
    const endpoint = byNumber.get(row.consumer);
    return (
      endpoint !== undefined &&
      isOf(endpoint, tenant) &&
      [undefined, row.because].includes(because) &&
      (status === undefined || BigInt(status ?? 0) === row.status) &&
      (error === undefined || (error ?? "") === row.error)
    );
  });
}

/** A handler belongs to no tenant: its dead letters are told apart by their events. */
function isOf(consumer: Consumer, tenant: string | undefined): boolean {
  return tenant === undefined || isHandler(consumer) || ownerOf(consumer) === tenant;
}

/** Conditions on `posthorn_dead d`, and their values: one for each way into an index. */
export interface DeadRange {
  readonly where: string;
  readonly values: readonly SqliteValue[];
}

/** Where the dead letters of a filter are found. Each range is in the order of death within one index. */
export function rangesOf(turn: OutboxTurn, filter: DeadFilter): readonly DeadRange[] {
  const { tenant, endpointId, because, status, error, key } = filter;
  const rest = timesOf(filter);
  if (key !== undefined) return keyRanges(turn, filter, rest);
  if ([tenant, endpointId, because, status, error].every((wanted) => wanted === undefined)) {
    return [{ where: `d.resolved_at is null${rest.where}`, values: rest.values }];
  }
  return groupsOf(turn, filter).map((group) => {
    const { where, values } = rangeOf(turn, group, tenant);
    return { where: `${where}${rest.where}`, values: [...values, ...rest.values] };
  });
}

/** The dead letters of a group; of a handler, those of the tenant. */
export function rangeOf(
  { consumers }: OutboxTurn,
  group: GroupColumns,
  tenant: string | undefined,
): DeadRange {
  const { consumer, because, status, error } = group;
  const named = consumers.byNumber.get(consumer);
  const isByEvent = tenant !== undefined && named !== undefined && isHandler(named);
  const ofTenant = " and (select tenant from posthorn_event where id = d.event) = ?";
  return {
    where: `d.resolved_at is null and d.consumer = ? and d.because = ? and coalesce(d.last_status, 0) = ?
       and coalesce(d.last_error, '') = ?${isByEvent ? ofTenant : ""}`,
    values: [consumer, because, status, error, ...(isByEvent ? [withoutNul(tenant)] : [])],
  };
}

function keyRanges(turn: OutboxTurn, filter: DeadFilter, rest: DeadRange): readonly DeadRange[] {
  const { endpointId = "", key = "", tenant, because, status, error } = filter;
  const consumer = turn.consumers.numbers.get(endpointId);
  if (consumer === undefined) return [];
  const named = turn.consumers.byNumber.get(consumer);
  if (named === undefined || !isOf(named, tenant)) return [];
  const lanes = turn.client.allWide(
    `select id from posthorn_lane where consumer = ? and key = ? and (tenant = '' or ? is null or tenant = ?)`,
    consumer,
    key,
    tenant ?? null,
    tenant === undefined ? null : withoutNul(tenant),
  ) as { id: bigint }[];
  const more = [
    because === undefined ? [] : ([" and d.because = ?", because] as const),
    status === undefined ? [] : ([" and coalesce(d.last_status, 0) = ?", status ?? 0] as const),
    error === undefined ? [] : ([" and coalesce(d.last_error, '') = ?", error ?? ""] as const),
  ].flatMap(([where, value]) => (where === undefined || value === undefined ? [] : [{ where, value }]));
  return lanes.map(({ id }) => ({
    where: `d.lane = ? and d.resolved_at is null${more.map(({ where }) => where).join("")}${rest.where}`,
    values: [id, ...more.map(({ value }) => value), ...rest.values],
  }));
}

function timesOf({ since, until, upTo }: DeadFilter): DeadRange {
  const parts = [
    ...(since === undefined ? [] : [{ where: " and d.died_at >= ?", value: since.getTime() }]),
    ...(until === undefined ? [] : [{ where: " and d.died_at < ?", value: until.getTime() }]),
    ...(upTo === undefined ? [] : [{ where: " and d.id <= ?", value: upTo }]),
  ];
  return { where: parts.map(({ where }) => where).join(""), values: parts.map(({ value }) => value) };
}
