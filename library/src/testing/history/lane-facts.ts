import type { Finding } from "./finding.js";
import type { DeliveryRow, OutboxFacts, Receipt } from "./outbox-facts.js";
import type { SeenPlace } from "./outbox-record.js";

/** What a history says of one place in a lane. */
export interface PlaceFacts {
  readonly sequence: bigint;
  /** Undefined where nothing came. */
  first: Receipt | undefined;
  /** What came from there. */
  event: OutboxFacts | undefined;
  /** Whether one of its receipts was answered with success. */
  acknowledged: boolean;
  /** How the outbox says that it ended, where that was not by an acknowledgement. */
  readonly rows: DeliveryRow[];
}

/** A place that was passed over, and by which receipt. */
export interface PassedOver {
  readonly place: PlaceFacts;
  readonly by: Receipt;
}

/** What a history says of one lane: an endpoint, a key and a generation. */
export interface LaneFacts {
  readonly endpoint: string;
  readonly key: string;
  /** The highest place from which something has come. */
  last: PlaceFacts | undefined;
  readonly places: Map<bigint, PlaceFacts>;
  /** The first break of order that could be seen at once. */
  disorder: Finding | undefined;
  /** Places whose successors came before they were acknowledged: each must have ended otherwise. */
  readonly passedOver: PassedOver[];
}

export function noLaneFacts(endpoint: string, key: string): LaneFacts {
  return { endpoint, key, last: undefined, places: new Map(), disorder: undefined, passedOver: [] };
}

export function placeOf(lane: LaneFacts, { sequence }: SeenPlace): PlaceFacts {
  const number = BigInt(sequence);
  const known = lane.places.get(number);
  if (known !== undefined) return known;
  const place: PlaceFacts = {
    sequence: number,
    first: undefined,
    event: undefined,
    acknowledged: false,
    rows: [],
  };
  lane.places.set(number, place);
  return place;
}

/** Notes a receipt and returns its place. Only the first of a place says anything about order. */
export function noteArrival(
  lane: LaneFacts,
  {
    receipt,
    seen,
    event,
  }: { readonly receipt: Receipt; readonly seen: SeenPlace; readonly event: OutboxFacts },
): PlaceFacts {
  const place = placeOf(lane, seen);
  if (place.first !== undefined) {
    if (place.first.fields.id !== receipt.fields.id)
      lane.disorder ??= { found: "two events came from one place", witness: [place.first, receipt] };
    return place;
  }
  place.first = receipt;
  place.event = event;
  const { last } = lane;
  if (last?.first !== undefined && place.sequence < last.sequence) {
    lane.disorder ??= { found: "it came after one that stands behind it", witness: [last.first, receipt] };
    return place;
  }
  if (last !== undefined && !last.acknowledged) lane.passedOver.push({ place: last, by: receipt });
  noteGap(lane, place, receipt);
  lane.last = place;
  return place;
}

// A header may tell of any gap; so many are looked at.
const MOST_IN_GAP = 1000n;

/** Between the sequence that is said to come before and its own, everything was passed over. */
function noteGap(lane: LaneFacts, { sequence }: PlaceFacts, by: Receipt): void {
  const { after } = by.fields;
  if (after === undefined) {
    // The lane is said to start here: whatever came before was given up.
    for (const place of lane.places.values())
      if (place.sequence < sequence) lane.passedOver.push({ place, by });
    return;
  }
  const told = BigInt(after);
  if (lane.places.get(told)?.first === undefined) {
    const witness = [...(lane.last?.first ? [lane.last.first] : []), by];
    lane.disorder ??= { found: `it says that it follows ${after}, which never came`, witness };
    return;
  }
  const from = sequence - told > MOST_IN_GAP ? sequence - MOST_IN_GAP : told;
  for (let missing = from + 1n; missing < sequence; missing++) {
    const place = placeOf(lane, { key: lane.key, generation: "", sequence: String(missing) });
    lane.passedOver.push({ place, by });
  }
}

/** Finds an event that stands behind one that nobody had begun to publish when it was committed already. */
export function overtakingAtPublish({ places }: LaneFacts): Finding | undefined {
  let latest: Receipt | undefined;
  let latestBegan = -Infinity;
  // In the order in which they first came, which is the order of their places.
  for (const { first, event } of places.values()) {
    if (
      first === undefined ||
      event === undefined ||
      event.published.some(({ fields }) => fields.later === true)
    )
      continue;
    const { committed } = event;
    if (latest && committed && committed[1].n < latestBegan) {
      const found = "it was committed before the one in front of it was published";
      return { found, witness: [committed[1], first, latest] };
    }
    // Of several publications of one id, the first may be the one that counted.
    const began = event.published[0]?.n ?? -Infinity;
    if (began > latestBegan) [latest, latestBegan] = [first, began];
  }
  return undefined;
}
