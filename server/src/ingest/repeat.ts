import type { Clock } from "posthorn";

export interface Repetition {
  readonly everyMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True when there is more to do at once. */
  readonly work: () => Promise<boolean | void>;
  readonly failed: (error: unknown) => void;
}

/** Does something again and again until the signal aborts; what fails is told, and done again at its time. */
export async function repeat({ everyMs, clock, signal, work, failed }: Repetition): Promise<void> {
  while (!signal.aborted) {
    let more: boolean | void = false;
    try {
      more = await work();
    } catch (error) {
      failed(error);
    }
    await clock.sleep(more === true ? 0 : everyMs, signal);
  }
}
