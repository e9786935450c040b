/** The middle value, or the mean of the two middle ones; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? (high + (sorted[middle - 1] ?? Number.NaN)) / 2 : high;
}

/**
 * Divides round by round. Both values of a round met the same weather, so their quotient is steady where a
 * neighbour on the machine halves every rate for a second; the quotient of two medians is not.
 */
export function ratioPerRound(of: readonly number[], to: readonly number[]): number[] {
  if (of.length !== to.length) throw new Error(`Cannot pair ${of.length} rounds with ${to.length}.`);
  return of.map((value, round) => value / (to[round] ?? Number.NaN));
}

/** The values between which the middle half lies: one stalled round says nothing about the rest, as lowest or highest it would. */
export function middleHalf(values: readonly number[]): { low: number; high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const quarter = Math.floor(sorted.length / 4);
  return { low: sorted[quarter] ?? Number.NaN, high: sorted.at(-1 - quarter) ?? Number.NaN };
}
