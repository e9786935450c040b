// Nine tenths of a node's time are everybody's.
const OTHERS_GET = 9;

/**
 * When a node may again run something alone, after it has spent the time between two instants on that. Waiting for the
 * others to finish is part of it: nothing new begins meanwhile.
 */
export function aloneAgainAt(startedAt: number, endedAt: number): number {
  return endedAt + (endedAt - startedAt) * OTHERS_GET;
}
