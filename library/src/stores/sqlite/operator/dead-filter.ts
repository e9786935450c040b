import type { DeadFilter, DeadGroupFilter } from "../../../operator/dead-filter.js";
import type { SqliteValue } from "../client/client.js";
import { ownerOf } from "../../../outbox/fan-out.js";
import type { OutboxTurn } from "../outbox/turn.js";

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
      [undefined, ownerOf(endpoint)].includes(tenant) &&
      [undefined, row.because].includes(because) &&
      (status === undefined || BigInt(status ?? 0) === row.status) &&
      (error === undefined || (error ?? "") === row.error)
    );
  });
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
  return groupsOf(turn, filter).map((group) => ({
    where: `d.resolved_at is null and d.consumer = ? and d.because = ? and coalesce(d.last_status, 0) = ?
       and coalesce(d.last_error, '') = ?${rest.where}`,
    values: [group.consumer, group.because, group.status, group.error, ...rest.values],
  }));
}

function keyRanges(turn: OutboxTurn, filter: DeadFilter, rest: DeadRange): readonly DeadRange[] {
  const { endpointId = "", key = "", tenant, because, status, error } = filter;
  const consumer = turn.consumers.numbers.get(endpointId);
  if (consumer === undefined) return [];
  if (tenant !== undefined && ownerOf(turn.consumers.byNumber.get(consumer)) !== tenant) return [];
  const lane = turn.client.getWide(
    "select id from posthorn_lane where consumer = ? and tenant = '' and source = '' and key = ?",
    consumer,
    key,
  ) as { id: bigint } | undefined;
  if (lane === undefined) return [];
  const more = [
    because === undefined ? [] : ([" and d.because = ?", because] as const),
    status === undefined ? [] : ([" and coalesce(d.last_status, 0) = ?", status ?? 0] as const),
    error === undefined ? [] : ([" and coalesce(d.last_error, '') = ?", error ?? ""] as const),
  ].flatMap(([where, value]) => (where === undefined || value === undefined ? [] : [{ where, value }]));
  return [
    {
      where: `d.lane = ? and d.resolved_at is null${more.map(({ where }) => where).join("")}${rest.where}`,
      values: [lane.id, ...more.map(({ value }) => value), ...rest.values],
    },
  ];
}

function timesOf({ since, until, upTo }: DeadFilter): DeadRange {
  const parts = [
    ...(since === undefined ? [] : [{ where: " and d.died_at >= ?", value: since.getTime() }]),
    ...(until === undefined ? [] : [{ where: " and d.died_at < ?", value: until.getTime() }]),
    ...(upTo === undefined ? [] : [{ where: " and d.id <= ?", value: upTo }]),
  ];
  return { where: parts.map(({ where }) => where).join(""), values: parts.map(({ value }) => value) };
}
