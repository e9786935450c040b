import { problemOf } from "posthorn/client";
import type { Delivery, Endpoint, Lane } from "posthorn/client";
import { api } from "./api.ts";

const NEXT = 6;
const LAST = 3;

/** Which places of a lane are drawn. */
export interface Places {
  readonly next: readonly string[];
  readonly last: readonly string[];
}

/** The first behind the head, and the newest: what waits has no gaps. What came before the head is not asked for, as it may be gone. */
export function placesOf({ head, depth }: Pick<Lane, "head" | "depth">): Places {
  const at = BigInt(head);
  const end = at + BigInt(depth);
  const behind = Number(end - at) - 1;
  const next = Math.min(NEXT, behind);
  const last = Math.min(LAST, behind - next);
  return {
    next: from(at + 1n, next),
    last: from(end - BigInt(last), last),
  };
}

function from(first: bigint, n: number): string[] {
  return Array.from({ length: Math.max(0, n) }, (_, index) => (first + BigInt(index)).toString());
}

export interface LaneStory extends Places {
  readonly lane: Lane;
  readonly endpoint: Endpoint | undefined;
  /** By sequence; those that are kept no longer are missing. */
  readonly known: ReadonlyMap<string, Delivery>;
}

// What waits behind the same head still waits: only the head is asked for again.
const kept = new Map<string, Delivery | undefined>();
const MOST_KEPT = 2000;

async function deliveryAt(laneId: string, sequence: string, head: string): Promise<Delivery | undefined> {
  const id = `dlv_${laneId}_${sequence}`;
  const key = `${id} behind ${head}`;
  if (sequence !== head && kept.has(key)) return kept.get(key);
  const found = await api.deliveries.get(id).catch(() => undefined);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, found);
  return found;
}

/** Undefined where nothing waits in the lane: then the API has none of this id. */
export async function loadLane(id: string): Promise<LaneStory | undefined> {
  const lane = await api.lanes.get(id).catch((error: unknown) => {
    if (problemOf(error)?.status === 404) return undefined;
    throw error;
  });
  if (lane === undefined) return undefined;
  const places = placesOf(lane);
  const sequences = [lane.head, ...places.next, ...places.last];
  const [endpoint, ...found] = await Promise.all([
    api.endpoints.get(lane.endpointId).catch(() => undefined),
    ...sequences.map(async (sequence) => [sequence, await deliveryAt(id, sequence, lane.head)] as const),
  ]);
  const known = found.flatMap(([sequence, delivery]) =>
    delivery === undefined ? [] : [[sequence, delivery] as const],
  );
  return { lane, endpoint, known: new Map(known), ...places };
}
