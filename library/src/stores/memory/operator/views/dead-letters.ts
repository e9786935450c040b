import { cursorOf, numbersOfCursor } from "../../../../operator/cursor.js";
import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadLetter, Page, Paged } from "../../../../operator/operator-store.js";
import type { DeadRow } from "../../lanes/history.js";
import type { MemoryParts } from "../../parts.js";
import { matchingDead } from "./dead-filter.js";
import { pageOf } from "./page.js";

/** Newest first, unless the filter says otherwise. */
export function deadLetters(
  parts: MemoryParts,
  { limit, after }: Page,
  filter: DeadFilter = {},
): Paged<DeadLetter> {
  const all = matchingDead(parts, filter);
  const [, last] = numbersOfCursor(after, 2) ?? [];
  const isRest = ({ number }: DeadRow): boolean =>
    last === undefined || (filter.order === "oldest" ? number > last : number < last);
  const page = pageOf(all.filter(isRest), limit, ({ diedAt, number }) =>
    cursorOf(BigInt(diedAt.getTime()), BigInt(number)),
  );
  return { ...page, items: page.items.map(letterOf) };
}

function letterOf({ id, number, lane, delivery, because, diedAt, attempts, last }: DeadRow): DeadLetter {
  const { tenant, id: eventId, type } = delivery.event;
  const isLane = lane.kind === "lane";
  return {
    id,
    number: BigInt(number),
    laneId: isLane ? lane.id : undefined,
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
