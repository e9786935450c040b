/**
 * When a key counts, in unix milliseconds with both ends included; infinite where it says nothing. A key that leaks must be
 * of no use once its time is over.
 */
export class Period {
  readonly fromMs: number;
  readonly untilMs: number;

  constructor(fromMs: number, untilMs: number) {
    this.fromMs = fromMs;
    this.untilMs = untilMs;
  }

  includes(nowMs: number): boolean {
    return nowMs >= this.fromMs && nowMs <= this.untilMs;
  }

  /** For the message to whoever has to renew the key. */
  toString(): string {
    const ends = [
      ["from", this.fromMs],
      ["until", this.untilMs],
    ] as const;
    const words = ends.filter(([, ms]) => Number.isFinite(ms));
    return words.map(([word, ms]) => `${word} ${new Date(ms).toISOString()}`).join(" ");
  }
}
