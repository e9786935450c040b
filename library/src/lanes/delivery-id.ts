/** Names a delivery: by its place in its lane, or by its own id where it has no lane. */
export type DeliveryPlace =
  | { readonly kind: "lane"; readonly lane: bigint; readonly sequence: bigint }
  | { readonly kind: "loose"; readonly id: bigint };

/** As people see it: `dlv_12_7` is sequence 7 of lane 12, `dlv_31` is a delivery without a lane. */
export function deliveryIdOf(place: DeliveryPlace): string {
  return place.kind === "lane" ? `dlv_${place.lane}_${place.sequence}` : `dlv_${place.id}`;
}

/** Undefined where the text is none. */
export function parseDeliveryId(text: string): DeliveryPlace | undefined {
  const [, first = "", second] = /^dlv_(\d+)(?:_(\d+))?$/.exec(text) ?? [];
  const [lane, sequence] = [parseLaneId(first), second === undefined ? undefined : parseLaneId(second)];
  if (lane === undefined || (second !== undefined && sequence === undefined)) return undefined;
  return sequence === undefined ? { kind: "loose", id: lane } : { kind: "lane", lane, sequence };
}

// What a database holds at most: a larger number would be its error, and not an id that nobody has.
const MOST = 2n ** 63n - 1n;

/** A lane's id, or any other number that a database gave out; undefined where the text is none. */
export function parseLaneId(text: string): bigint | undefined {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && id <= MOST ? id : undefined;
}
