import type { Clock } from "posthorn";

/** The process, as far as signals are concerned. */
export interface SignalledProcess {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  removeListener(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
}

export interface StopSignals {
  /** Resolves at the first signal. */
  readonly stopped: Promise<void>;
  release(): void;
}

export interface StopOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Called at the second signal. */
  readonly atOnce: () => void;
}

// One Ctrl-C can arrive twice: from the terminal, and passed on by npm.
const SAME_MS = 500;

/**
 * Listens for signals to stop; a second one calls `atOnce`. Nothing is lost by that: what was under way is delivered
 * again when its lease ends.
 */
export function untilStopped(from: SignalledProcess, { clock, atOnce }: StopOptions): StopSignals {
  const told = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    told.signal.addEventListener("abort", () => resolve());
  });
  let firstAt = 0;
  const listener = (): void => {
    const nowMs = clock.monotonic();
    if (!told.signal.aborted) {
      firstAt = nowMs;
      told.abort();
    } else if (nowMs - firstAt >= SAME_MS) atOnce();
  };
  from.on("SIGINT", listener);
  from.on("SIGTERM", listener);
  return {
    stopped,
    release: () => {
      from.removeListener("SIGINT", listener);
      from.removeListener("SIGTERM", listener);
    },
  };
}
