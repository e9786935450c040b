/** Chance from a seed: the same draws in the same order, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = mixed(seed);
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mixed(this.#state) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new Error("There is nothing to pick from.");
    return values[Math.floor(this.next() * values.length)] as T;
  }
}

/** A stream of its own for each part of a run: what one part draws must not change what another gets. */
export function streamOf(seed: number, part: number): Random {
  return new Random(mixed(seed) ^ Math.imul(part + 1, 0x9e3779b1));
}

function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
