/** The process, as far as it is told to end. */
export interface SignalledProcess {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  removeListener(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
}

/**
 * Resolves at the first signal to stop. The second one, of somebody who will not wait, calls `atOnce`. Nothing is lost
 * by it: what was under way is delivered again when its lease ends.
 */
export function untilStopped(
  from: SignalledProcess,
  atOnce: () => void,
): { readonly stopped: Promise<void>; release(): void } {
  const told = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    told.signal.addEventListener("abort", () => resolve());
  });
  const listener = (): void => {
    if (told.signal.aborted) atOnce();
    else told.abort();
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
