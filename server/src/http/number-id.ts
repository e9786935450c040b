// What a database holds at most: a larger number in a path would be its error, and not an id that nobody has.
const MOST = 2n ** 63n - 1n;

/** A lane's id; undefined where the text is none. */
export function laneIdOf(text: string): bigint | undefined {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && id <= MOST ? id : undefined;
}

/** Whether a delivery can have this id: `dlv_12_7`, or `dlv_31` without a lane. */
export function isDeliveryId(text: string): boolean {
  const [, first, second] = /^dlv_(\d{1,19})(?:_(\d{1,19}))?$/.exec(text) ?? [];
  return first !== undefined && BigInt(first) <= MOST && BigInt(second ?? 0) <= MOST;
}
