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
  if (deliveries.length === 0) return [];
  const lanes = [...new Set(deliveries.flatMap(({ laneId }) => laneId ?? []))];
  const subjects = [...deliveries.map(({ id }) => id), ...lanes];
  const [changes, items] = await Promise.all([
    registry.audit.auditOf(subjects, MOST_DEEDS),
    registry.operations.itemsAbout({ eventId, lanes }, MOST_DEEDS),
  ]);
  const deeds = [...changes.flatMap(ofChange), ...items.flatMap(ofItem)];
  // A lane has a past of its own, before the event came.
  return deeds.filter(({ at }) => Date.parse(at) >= since.getTime());
}

/** What was refused was not done. */
function ofChange({ at, by, action, subject, note, status }: AuditEntry): readonly Deed[] {
  const isOfDelivery = subject.kind === "delivery";
  if (status === null || status >= 300 || (!isOfDelivery && subject.kind !== "lane")) return [];
  const verb = action.slice(action.indexOf(".") + 1);
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
