import { QuietSlices, stolenMs, stolenShare } from "../../quiet.js";

const SLICE_MS = 1000;
// Three pauses of 3 ms in a second would be its p99.
const MOST_STOLEN = 0.005;

export interface CountedTimeOptions {
  readonly fromMs: number;
  /** How much of the time counts. */
  readonly forMs: number;
  /** How long it may go on until so much of it was quiet. */
  readonly atMostMs: number;
  readonly stolenMs?: () => number;
}

/** What came of the time that counts. */
export interface Counted {
  readonly requests: number;
  readonly elapsedUs: number;
  /** How often each latency was seen, in µs. */
  readonly latencies: readonly (readonly [us: number, count: number])[];
  readonly seconds: { readonly seen: number; readonly quiet: number };
}

/** The time in which latencies are counted, in whole seconds: those in which the host left the machine alone. */
export class CountedTime {
  readonly #fromMs: number;
  readonly #stolenMs: () => number;
  readonly #slices: QuietSlices;
  /** For each second, how often each latency was seen. */
  readonly #latencies: Map<number, number>[] = [];
  #sliceFromMs: number;
  #stolenBefore: number | undefined;

  constructor({ fromMs, forMs, atMostMs, stolenMs: stolen = stolenMs }: CountedTimeOptions) {
    this.#fromMs = fromMs;
    this.#sliceFromMs = fromMs;
    this.#stolenMs = stolen;
    this.#slices = new QuietSlices({
      wanted: Math.max(1, Math.round(forMs / SLICE_MS)),
      atMost: Math.max(1, Math.round(atMostMs / SLICE_MS)),
      mostStolen: MOST_STOLEN,
    });
  }

  /** Whether it is over; to be asked often, for it looks at the host at the end of each second. */
  isOver(nowMs: number): boolean {
    if (this.#slices.areEnough) return true;
    if (nowMs < this.#fromMs) return false;
    this.#stolenBefore ??= this.#stolenMs();
    if (nowMs < this.#fromMs + (this.#slices.seen + 1) * SLICE_MS) return false;
    const stolen = this.#stolenMs();
    this.#slices.add(stolenShare(stolen - this.#stolenBefore, nowMs - this.#sliceFromMs));
    this.#stolenBefore = stolen;
    this.#sliceFromMs = nowMs;
    return this.#slices.areEnough;
  }

  /** A request belongs to the second in which it was due. */
  record(dueMs: number, nowMs: number): void {
    const second = Math.floor((dueMs - this.#fromMs) / SLICE_MS);
    if (second < 0) return;
    const us = Math.round((nowMs - dueMs) * 1000);
    const seen = (this.#latencies[second] ??= new Map<number, number>());
    seen.set(us, (seen.get(us) ?? 0) + 1);
  }

  counted(): Counted {
    const chosen = this.#slices.chosen();
    const latencies = new Map<number, number>();
    for (const second of chosen)
      for (const [us, count] of this.#latencies[second] ?? [])
        latencies.set(us, (latencies.get(us) ?? 0) + count);
    return {
      requests: [...latencies.values()].reduce((sum, count) => sum + count, 0),
      elapsedUs: chosen.length * SLICE_MS * 1000,
      latencies: [...latencies],
      seconds: { seen: this.#slices.seen, quiet: this.#slices.quiet },
    };
  }
}
