// How many attempts of an endpoint say how quickly it answers, and what counts as quick.
const SAMPLE = 10;
const QUICK_MS = 1000;
// Names are sent with a claim, and paces are kept in memory: those that were used longest ago are forgotten.
const REMEMBERED = 1000;

/** One attempt under way. */
export interface Begun {
  readonly consumer: string;
  readonly startedAt: number;
}

interface Finished {
  readonly startedAt: number;
  readonly durationMs: number;
}

interface Pace {
  /** In the order of their starts. */
  readonly underWay: Set<Begun>;
  /** The ten that started last, in the order of their starts. */
  finished: readonly Finished[];
}

/**
 * How quickly consumers answer. A consumer is *quick* when the last ten of its attempts took less than a second each, on
 * average. Instants are arguments, by a monotonic clock.
 */
export class Paces {
  // In the order of their last use.
  readonly #paces = new Map<string, Pace>();

  begin(consumer: string, now: number): Begun {
    const pace = this.#paces.get(consumer) ?? { underWay: new Set<Begun>(), finished: [] };
    const begun = { consumer, startedAt: now };
    pace.underWay.add(begun);
    this.#paces.delete(consumer);
    this.#paces.set(consumer, pace);
    if (this.#paces.size > REMEMBERED) this.#forgetOne();
    return begun;
  }

  end(begun: Begun, now: number): void {
    const pace = this.#paces.get(begun.consumer);
    if (pace === undefined || !pace.underWay.delete(begun)) return;
    const { startedAt } = begun;
    pace.finished = newest([...pace.finished, { startedAt, durationMs: now - startedAt }]);
  }

  /** False for a consumer of which fewer than ten attempts have ended: nobody knows yet. */
  isQuick(consumer: string, now: number): boolean {
    const pace = this.#paces.get(consumer);
    if (pace === undefined || pace.finished.length < SAMPLE) return false;
    const slow = slowUnderWay(pace, now);
    const sample = slow.length === 0 ? pace.finished : newest([...pace.finished, ...slow]);
    return sample.reduce((sum, { durationMs }) => sum + durationMs, 0) < SAMPLE * QUICK_MS;
  }

  /** The names of all that are quick. */
  quick(now: number): readonly string[] {
    return [...this.#paces.keys()].filter((consumer) => this.isQuick(consumer, now));
  }

  #forgetOne(): void {
    for (const [consumer, { underWay }] of this.#paces) {
      if (underWay.size > 0) continue;
      this.#paces.delete(consumer);
      return;
    }
  }
}

/**
 * Attempts under way count with their age once they are known to be slow. Younger ones say nothing: an endpoint that
 * hangs would look quick whenever ten of its attempts have just begun.
 */
function slowUnderWay({ underWay }: Pace, now: number): Finished[] {
  const slow: Finished[] = [];
  for (const { startedAt } of underWay) {
    if (now - startedAt < QUICK_MS) break;
    slow.push({ startedAt, durationMs: now - startedAt });
  }
  return slow;
}

function newest(attempts: readonly Finished[]): readonly Finished[] {
  return attempts.toSorted((a, b) => a.startedAt - b.startedAt).slice(-SAMPLE);
}
