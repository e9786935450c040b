import type { DeadLetter, Page, Paged } from "../../../operator/operator-store.js";
import type { DeadRow } from "../lanes/history.js";
import type { MemoryParts } from "../parts.js";
import { pageOf } from "./page.js";

/** Newest first. */
export function deadLetters({ history }: MemoryParts, { limit, after }: Page): Paged<DeadLetter> {
  const all = history.allDead();
  const rest = after === undefined ? all : all.filter(({ number }) => number < Number(after));
  const page = pageOf(rest, limit, ({ number }) => String(number));
  return { ...page, items: page.items.map(letterOf) };
}

function letterOf({ id, lane, delivery, because, diedAt, attempts, last }: DeadRow): DeadLetter {
  const { tenant, id: eventId, type } = delivery.event;
  const isLane = lane.kind === "lane";
  return {
    id,
    tenant,
    endpointId: lane.endpointId,
    key: lane.key,
    sequence: isLane ? delivery.sequence : undefined,
    eventId,
    type,
    round: delivery.round,
    because,
    diedAt: new Date(diedAt),
    attempts,
    lastStatus: last?.status,
    lastError: last?.error,
    blocks: isLane && lane.state !== "flowing" && lane.head === delivery.sequence,
  };
}
