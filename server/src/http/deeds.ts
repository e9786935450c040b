import type { AuditEntry } from "posthorn/client";
import type { ItemDeed } from "../store/operation.js";
import type { ApiParts } from "./api-parts.js";

/** What an operator did to a delivery, or to the lane in which it waited. */
export interface Deed {
  readonly at: string;
  readonly by: string;
  readonly verb: string;
  readonly note: string | null;
  readonly operationId: string | null;
  /** Null where it was done to the whole lane. */
  readonly deliveryId: string | null;
  readonly laneId: string | null;
  /** Given where it was done to the event itself, before it had its places. */
  readonly eventId?: string;
}

/** An event, by its deliveries. */
export interface Placed {
  readonly eventId: string;
  readonly since: Date;
  readonly deliveries: readonly { readonly id: string; readonly laneId: string | null }[];
}

// More than people do to one event; a story stays a story.
const MOST_DEEDS = 100;

/** What operators did to an event, one by one or with many others, in no order. */
export async function deedsOf(
  { registry }: Pick<ApiParts, "registry">,
  { eventId, since, deliveries }: Placed,
): Promise<readonly Deed[]> {
  const lanes = [...new Set(deliveries.flatMap(({ laneId }) => laneId ?? []))];
  const subjects = [eventId, ...deliveries.map(({ id }) => id), ...lanes];
  const [changes, items] = await Promise.all([
    registry.audit.auditOf(subjects, MOST_DEEDS),
    deliveries.length === 0 ? [] : registry.operations.itemsAbout({ eventId, lanes }, MOST_DEEDS),
  ]);
  const deeds = [...changes.flatMap(ofChange), ...items.flatMap(ofItem)];
  // A lane has a past of its own, before the event came.
  return deeds.filter(({ at }) => Date.parse(at) >= since.getTime());
}

/** What was refused was not done. */
function ofChange({ at, by, action, subject, note, status }: AuditEntry): readonly Deed[] {
  const isOfDelivery = subject.kind === "delivery";
  const verb = action.slice(action.indexOf(".") + 1);
  if (status === null || status >= 300) return [];
  if (subject.kind === "held" && subject.id !== null)
    return [
      { at, by: by.name, verb, note, operationId: null, deliveryId: null, laneId: null, eventId: subject.id },
    ];
  if (!isOfDelivery && subject.kind !== "lane") return [];
  const about = { deliveryId: isOfDelivery ? subject.id : null, laneId: isOfDelivery ? null : subject.id };
  return [{ at, by: by.name, verb, note, operationId: null, ...about }];
}

function ofItem({ verb, runBy, note, operationId, item }: ItemDeed): readonly Deed[] {
  // What is pending or was not found was not done by it.
  if (item.at === null || item.result === "unknown") return [];
  const { at, laneId } = item;
  // A cancellation names the head, and is of all that waits.
  const deliveryId = verb === "cancel" ? null : item.deliveryId;
  return [{ at, by: runBy?.name ?? "", verb, note: note ?? null, operationId, deliveryId, laneId }];
}
