import type { InboxQuery } from "posthorn/client";
import { MOST_ITEMS } from "./plan.js";
import { readAddress, replayFilterOf, writeAddress } from "./replay-plan.js";
import { handlerId, parseLaneId } from "posthorn/gateway";
import type { ServerOutbox } from "../parts.js";
import type { ItemRecord, ItemResult, OperationRecord } from "../store/operation.js";
import { deadFilterOf } from "./dead-query.js";

/** What the next step takes, and where the one after it begins. */
export interface Step {
  readonly items: readonly ItemRecord[];
  readonly after: string;
  /** Whether nothing is left behind it. */
  readonly last: boolean;
}

/** Where a step begins: how many items were taken before it, and the cursor of the list. */
interface Place {
  readonly taken: number;
  readonly cursor: string | undefined;
}

/** How many items a step takes: a fifth of a second's worth, so that a stop and a new rate are seen soon. */
export function stepSize(rate: number): number {
  return Math.min(500, Math.max(1, Math.ceil(rate / 5)));
}

/** How long to wait after a step, so that the rate is kept. */
export function pauseMs(rate: number, items: number, tookMs: number): number {
  return Math.max(0, (items / rate) * 1000 - tookMs);
}

/** Reads what the next step takes: dead letters oldest first, so that the order within each lane is kept. */
export async function nextStep(
  outbox: ServerOutbox,
  operation: Pick<OperationRecord, "verb" | "filter" | "plan" | "after" | "rate">,
): Promise<Step> {
  const { verb, filter, plan } = operation;
  const place = placeOf(operation.after);
  const limit = stepSize(operation.rate);
  if (filter.dead !== undefined) return deadStep(outbox, operation, { place, limit });
  if (filter.deliveries !== undefined) return deliveryStep(outbox, filter.deliveries, { place, limit });
  if (filter.inbox !== undefined) return replayStep(outbox, filter.inbox, { place, limit });
  const { targets } = plan;
  const items = targets.slice(place.taken, place.taken + (verb === "cancel" ? 1 : limit));
  const taken = place.taken + items.length;
  return {
    items: items.map(({ id, head, through }, n) => ({
      number: place.taken + n + 1,
      deliveryId: `dlv_${id}_${head}`,
      laneId: id,
      round: null,
      through: verb === "cancel" ? through : head,
      eventId: null,
      endpointId: null,
    })),
    after: writePlace({ taken, cursor: undefined }),
    last: taken >= targets.length,
  };
}

interface Where {
  readonly place: Place;
  readonly limit: number;
}

async function deadStep(
  outbox: ServerOutbox,
  { verb, filter, plan }: Pick<OperationRecord, "verb" | "filter" | "plan">,
  { place, limit }: Where,
): Promise<Step> {
  if (plan.upTo === null) return { items: [], after: writePlace(place), last: true };
  const meant = { ...deadFilterOf(filter.dead ?? {}, 0), upTo: BigInt(plan.upTo), order: "oldest" } as const;
  const { items, next } = await outbox.deadLetters({ limit, after: place.cursor }, meant);
  const wanted = verb === "skip" ? items.filter(({ blocks }) => blocks) : items;
  return {
    items: wanted.map(({ id, laneId, round, sequence, eventId, endpointId }, n) => ({
      number: place.taken + n + 1,
      deliveryId: id,
      laneId: laneId?.toString() ?? null,
      round,
      through: verb === "skip" ? String(sequence) : null,
      eventId,
      endpointId,
    })),
    after: writePlace({ taken: place.taken + wanted.length, cursor: next }),
    last: next === undefined,
  };
}

/** What was applied, oldest first: within each lane, in the order in which it was. */
async function replayStep(outbox: ServerOutbox, query: InboxQuery, { place, limit }: Where): Promise<Step> {
  const { items, next } = await outbox.inboxRows(replayFilterOf(query, 0), { limit, after: place.cursor });
  const wanted = items.slice(0, MOST_ITEMS - place.taken);
  const taken = place.taken + wanted.length;
  return {
    items: wanted.map((row, n) => ({
      number: place.taken + n + 1,
      deliveryId: null,
      laneId: null,
      round: row.round,
      through: writeAddress(row),
      eventId: row.storedAs ?? null,
      endpointId: handlerId(row.consumer),
    })),
    after: writePlace({ taken, cursor: next }),
    last: next === undefined || taken >= MOST_ITEMS,
  };
}

async function deliveryStep(
  outbox: ServerOutbox,
  ids: readonly string[],
  { place, limit }: Where,
): Promise<Step> {
  const some = ids.slice(place.taken, place.taken + limit);
  const items: ItemRecord[] = [];
  for (const [n, id] of some.entries()) {
    const delivery = await outbox.delivery(id);
    items.push({
      number: place.taken + n + 1,
      deliveryId: id,
      laneId: delivery?.laneId?.toString() ?? null,
      round: delivery?.round ?? null,
      through: null,
      eventId: delivery?.eventId ?? null,
      endpointId: delivery?.endpointId ?? null,
    });
  }
  const taken = place.taken + some.length;
  return { items, after: writePlace({ taken, cursor: undefined }), last: taken >= ids.length };
}

function placeOf(after: string | undefined): Place {
  const [taken = "0", cursor = ""] = (after ?? "").split(" ");
  return { taken: Number(taken), cursor: cursor === "" ? undefined : cursor };
}

function writePlace({ taken, cursor = "" }: Place): string {
  return `${taken} ${cursor}`;
}

/** Does the items of a step; those without a result are to be tried again. Doing them twice changes nothing more. */
export async function doItems(
  outbox: ServerOutbox,
  verb: OperationRecord["verb"],
  items: readonly ItemRecord[],
): Promise<readonly ItemResult[]> {
  switch (verb) {
    case "redrive":
      return redriveItems(outbox, items);
    case "replay":
      return replayItems(outbox, items);
    case "skip":
      return Promise.all(items.map((item) => skipItem(outbox, item)));
    case "cancel": {
      const results: ItemResult[] = [];
      for (const item of items) results.push(...(await cancelItem(outbox, item)));
      return results;
    }
  }
}

async function redriveItems(
  outbox: ServerOutbox,
  items: readonly ItemRecord[],
): Promise<readonly ItemResult[]> {
  const wanted = items.map(({ deliveryId, round }) => ({ id: deliveryId ?? "", round: round ?? 0 }));
  const redriven = await outbox.redriveAll(wanted);
  return items.map(({ number }, n) => ({ number, result: redriven[n] ?? "unknown", count: 1 }));
}

/** None for one whose handler runs at this moment: it is tried again. */
async function replayItems(
  outbox: ServerOutbox,
  items: readonly ItemRecord[],
): Promise<readonly ItemResult[]> {
  const wanted = items.map(({ through, round }) =>
    Object.assign(readAddress(through), { verb: "replay" as const, round: round ?? undefined }),
  );
  const staged = await outbox.stageAgain(wanted);
  return items.flatMap(({ number }, n): ItemResult[] => {
    const result = staged[n] ?? "unknown";
    if (result === "busy") return [];
    return [{ number, result: result === "applied" ? "unknown" : result, count: 1 }];
  });
}

async function skipItem(outbox: ServerOutbox, { number, laneId, through }: ItemRecord): Promise<ItemResult> {
  const lane = parseLaneId(laneId ?? "");
  const head = parseLaneId(through ?? "");
  const result = lane === undefined || head === undefined ? "unknown" : await outbox.skip(lane, head);
  return { number, result, count: 1 };
}

// Few enough that nobody waits long for the lane.
const CANCELLED_AT_ONCE = 500n;

/** None while a worker has the head under way: the rest of the lane cannot be passed before it. */
async function cancelItem(
  outbox: ServerOutbox,
  { number, laneId, through }: ItemRecord,
): Promise<readonly ItemResult[]> {
  const id = parseLaneId(laneId ?? "") ?? 0n;
  const last = parseLaneId(through ?? "") ?? 0n;
  for (let count = 0; ;) {
    const lane = await outbox.lane(id);
    const part = lane === undefined ? last : lane.head + CANCELLED_AT_ONCE - 1n;
    const cancelled = await outbox.cancel(id, part < last ? part : last);
    if (cancelled.kind === "intended") return [];
    if (cancelled.kind === "unknown")
      return [{ number, result: count === 0 ? "unknown" : "cancelled", count }];
    count += cancelled.count;
  }
}
