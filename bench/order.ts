/**
 * The order of the cases in a round: shuffled, so that no case always runs behind the same one and inherits its
 * garbage or its boosted clock; seeded by the round, so that two runs take the same turns.
 */
export function orderOfRound(cases: number, round: number): number[] {
  const order = Array.from({ length: cases }, (_, index) => index);
  const random = mulberry32(round + 1);
  for (let last = cases - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const swapped = order[last] ?? last;
    order[last] = order[other] ?? other;
    order[other] = swapped;
  }
  return order;
}

/** A small seeded generator; Math.random cannot be seeded. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
