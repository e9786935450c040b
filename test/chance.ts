/** Chance from a seed, so that a failure can be repeated. */
export interface Chance {
  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number;
  pick<Value>(values: readonly Value[]): Value;
  bytes(length: number): Buffer;
}

/** mulberry32: fast, and good enough to pick cases with. */
export function createChance(seed: number): Chance {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (end: number): number => next() % end;
  return {
    below,
    pick: (values) => {
      const value = values[below(values.length)];
      if (value === undefined) throw new Error("There is nothing to pick from.");
      return value;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
