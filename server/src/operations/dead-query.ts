import type { DeadQuery } from "posthorn/client";
import type { DeadFilter } from "posthorn/operator";
import { problem } from "../http/problem.js";
import { timeRange } from "../http/time-range.js";

/** Reads what a person asks for into the store's filter; refuses what no index serves. */
export function deadFilterOf(query: DeadQuery, nowMs: number): DeadFilter {
  const { endpoint, because, status, error, key, tenant } = query;
  if (key !== undefined && endpoint === undefined) {
    throw problem(
      "request_invalid",
      "`key` needs `endpoint`: keys are found by the lanes of one endpoint, and there is no index of keys alone.",
      { field: "key" },
    );
  }
  const { since, until } = timeRange(
    {
      ...(query.since !== undefined && { since: query.since }),
      ...(query.until !== undefined && { until: query.until }),
    },
    nowMs,
  );
  return {
    endpointId: endpoint,
    because,
    status: status === undefined ? undefined : status === "none" ? null : Number(status),
    error: error === undefined ? undefined : error === "none" ? null : error,
    key,
    tenant,
    since,
    until,
  };
}

/** The same query with instants in place of ages: a plan means what it meant when it was made. */
export function fixedQuery(query: DeadQuery, nowMs: number): DeadQuery {
  const { since, until } = deadFilterOf(query, nowMs);
  return {
    ...query,
    ...(since !== undefined && { since: since.toISOString() }),
    ...(until !== undefined && { until: until.toISOString() }),
  };
}
