import type { Clock } from "../clock.js";
import type { StopSignal } from "../stop-signal.js";

export interface Repetition {
  readonly everyMs: number;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: StopSignal;
  /** True when there is more to do at once. */
  readonly work: () => Promise<boolean | void>;
  readonly failed: (error: unknown) => void;
}

/** Does work at an interval until the signal aborts. Work that fails is reported, and done again at its time. */
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
