/** When a key counts, in unix milliseconds with both ends included: a leaked key must be of no use once its time is over. */
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
    const dates = [this.fromMs, this.untilMs].map((ms) => new Date(ms).toISOString());
    return dates.join(" to ");
  }
}
