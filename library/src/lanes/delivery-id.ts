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
  const [, first, second] = /^dlv_(\d{1,19})(?:_(\d{1,19}))?$/.exec(text) ?? [];
  if (first === undefined) return undefined;
  return second === undefined
    ? { kind: "loose", id: BigInt(first) }
    : { kind: "lane", lane: BigInt(first), sequence: BigInt(second) };
}
