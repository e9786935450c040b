import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadRow } from "../../lanes/history.js";
import type { MemoryParts } from "../../parts.js";

/** The dead letters that a filter lets through, in its order. */
export function matchingDead({ history }: MemoryParts, filter: DeadFilter): readonly DeadRow[] {
  const found = history.allDead().filter((row) => matches(row, filter));
  return filter.order === "oldest" ? found.toReversed() : found;
}

function matches({ lane, delivery, because, last, diedAt, number }: DeadRow, filter: DeadFilter): boolean {
  const { tenant, endpointId, key, since, until, upTo } = filter;
  return (
    [undefined, delivery.event.tenant].includes(tenant) &&
    [undefined, lane.endpointId].includes(endpointId) &&
    [undefined, lane.key].includes(key) &&
    [undefined, because as string].includes(filter.because) &&
    [undefined, last?.status ?? null].includes(filter.status) &&
    [undefined, last?.error ?? null].includes(filter.error) &&
    (since === undefined || diedAt >= since) &&
    (until === undefined || diedAt < until) &&
    (upTo === undefined || BigInt(number) <= upTo)
  );
}
