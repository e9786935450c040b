import type { DeadFilter, DeadGroupFilter } from "../../../../operator/dead-filter.js";
import type { Parameter } from "../../client/database.js";
import type { Tables } from "../../schema/tables.js";

/** Takes the values of a statement, and says by which text each is meant. */
export class Parameters {
  readonly values: Parameter[] = [];

  add(value: string, type: "text" | "int4" | "int8" | "float8" | "timestamptz"): string {
    this.values.push(value);
    return `$${this.values.length}::text${type === "text" ? "" : `::${type}`}`;
  }
}

/** Every group that is counted: the groups, and what was not folded into them yet. */
export function countedSql({ deadGroup, deadChange }: Tables): string {
  return `(
        select consumer_id, because, status, error, sum(count) as count from (
          select consumer_id, because, status, error, count from ${deadGroup}
          union all
          select consumer_id, because, status, error, change from ${deadChange}
        ) as each_part
        group by consumer_id, because, status, error having sum(count) > 0
      )`;
}

/** Conditions on `counted` and `consumer`. */
export function groupConditions(filter: DeadGroupFilter, params: Parameters): string {
  const { tenant, endpointId, because, status, error } = filter;
  return [
    "removed_at is null",
    ...(tenant === undefined
      ? []
      : [`(consumer.kind = 'handler' or consumer.tenant = ${params.add(tenant, "text")})`]),
    ...(endpointId === undefined ? [] : [`consumer.public_id = ${params.add(endpointId, "text")}`]),
    ...(because === undefined ? [] : [`counted.because = ${params.add(because, "text")}`]),
    ...(status === undefined ? [] : [`counted.status = ${params.add(String(status ?? 0), "int4")}`]),
    ...(error === undefined ? [] : [`counted.error = ${params.add(error ?? "", "text")}`]),
  ].join(" and ");
}

/** A handler belongs to no tenant: its dead letters are told apart by their events. */
export function ofTenant(tenant: string | undefined, params: Parameters, { event }: Tables): string {
  if (tenant === undefined) return "";
  return ` and (groups.kind <> 'handler' or exists (
            select from ${event} as event where event.id = dead.event_id and event.tenant = ${params.add(tenant, "text")}
          ))`;
}

/** How the dead letters of a group are found, in the order in which they died. */
export const OF_GROUP = `dead.consumer_id = groups.consumer_id and dead.because = groups.because
          and coalesce(dead.last_status, 0) = groups.status and coalesce(dead.last_error, '') = groups.error
          and resolved_at is null`;

/** How many are wanted, from where on, and in which order. */
export interface Picked {
  readonly limit: number;
  /** Where the page before ended. */
  readonly after?: { readonly diedMs: bigint; readonly id: bigint } | undefined;
}

/**
 * A table `found (id, died_at)` of dead letters, as the first parts of a `with`. Whatever part of a group's name is asked
 * for, its groups are few, and of each no more is read than is wanted.
 */
export function foundSql(
  filter: DeadFilter,
  { limit, after }: Picked,
  { params, tables }: { readonly params: Parameters; readonly tables: Tables },
): string {
  const { dead, consumer } = tables;
  const oldest = filter.order === "oldest";
  const order = oldest ? "died_at, id" : "died_at desc, id desc";
  const most = params.add(String(limit), "int8");
  const past =
    after === undefined
      ? ""
      : ` and (died_at, id) ${oldest ? ">" : "<"} (to_timestamp(${params.add(String(after.diedMs), "float8")} / 1000),
            ${params.add(String(after.id), "int8")})`;
  const rest = `${timeConditions(filter, params)}${past}`;
  const { tenant, endpointId, because, status, error, key } = filter;
  if (key !== undefined)
    return foundByKey(filter, `${rest} order by ${order} limit ${most}`, { params, tables });
  if ([tenant, endpointId, because, status, error].every((wanted) => wanted === undefined)) {
    return `found as materialized (
        select id, died_at from ${dead} as dead
        where resolved_at is null and exists (
          select from ${consumer} as consumer where consumer.id = dead.consumer_id and removed_at is null
        )${rest} order by ${order} limit ${most}
      )`;
  }
  return `groups as materialized (
        select counted.consumer_id, counted.because, counted.status, counted.error, consumer.kind
        from ${countedSql(tables)} as counted
        join ${consumer} as consumer on consumer.id = counted.consumer_id
        where ${groupConditions(filter, params)}
      ), found as materialized (
        select picked.id, picked.died_at from groups cross join lateral (
          select id, died_at from ${dead} as dead where ${OF_GROUP}${ofTenant(tenant, params, tables)}${rest}
          order by ${order} limit ${most}
        ) as picked
        order by ${order} limit ${most}
      )`;
}

function foundByKey(
  filter: DeadFilter,
  rest: string,
  { params, tables }: { readonly params: Parameters; readonly tables: Tables },
): string {
  const { tenant, endpointId = "", because, status, error, key = "" } = filter;
  const more = [
    ...(because === undefined ? [] : [`because = ${params.add(because, "text")}`]),
    ...(status === undefined
      ? []
      : [`coalesce(last_status, 0) = ${params.add(String(status ?? 0), "int4")}`]),
    ...(error === undefined ? [] : [`coalesce(last_error, '') = ${params.add(error ?? "", "text")}`]),
  ].map((condition) => ` and ${condition}`);
  const [owned, laned] =
    tenant === undefined
      ? ["", ""]
      : [
          ` and (kind = 'handler' or consumer.tenant = ${params.add(tenant, "text")})`,
          ` and lane.tenant in ('', ${params.add(tenant, "text")})`,
        ];
  return `found as materialized (
        select id, died_at from ${tables.dead} as dead
        where resolved_at is null and lane_id = any (array(
          select lane_id from ${tables.lane} as lane
          where key = ${params.add(key, "text")}${laned} and consumer_id = (
            select id from ${tables.consumer} as consumer
            where public_id = ${params.add(endpointId, "text")} and removed_at is null${owned}
          )
        ))${more.join("")}${rest}
      )`;
}

function timeConditions({ since, until, upTo }: DeadFilter, params: Parameters): string {
  return [
    ...(since === undefined ? [] : [` and died_at >= ${params.add(since.toISOString(), "timestamptz")}`]),
    ...(until === undefined ? [] : [` and died_at < ${params.add(until.toISOString(), "timestamptz")}`]),
    ...(upTo === undefined ? [] : [` and id <= ${params.add(String(upTo), "int8")}`]),
  ].join("");
}
