/** What decides from when on a log is read. */
export interface WindowFacts {
  /** Everything before it was looked at; undefined on the very first run. */
  readonly cursorMs: number | undefined;
  readonly nowMs: number;
  /** How far a run reaches back before the cursor: clocks differ, and a log shows a delivery some time after it. */
  readonly overlapMs: number;
  /** How long the provider keeps its log. */
  readonly keptMs: number;
  /** How long the receiver remembers an event; undefined = for ever. */
  readonly rememberedMs: number | undefined;
  /** Where the first run begins; undefined = it repairs nothing. */
  readonly sinceMs: number | undefined;
}

/** What of a log a run reads. */
export interface Window {
  /** From when on. */
  readonly fromMs: number;
  /** What is newer was not looked at before; what is older was, unless the log has shown it late. */
  readonly baseMs: number;
}

/** Our own downtime, the overlap before it, and no more. Undefined = there is nothing to repair. */
export function windowOf(facts: WindowFacts): Window | undefined {
  const { cursorMs, nowMs, overlapMs, keptMs, rememberedMs = Infinity, sinceMs } = facts;
  const oldestMs = nowMs - keptMs;
  const wantedMs = cursorMs === undefined ? sinceMs : Math.min(cursorMs, nowMs) - overlapMs;
  if (wantedMs === undefined) return undefined;
  // Providers count whole seconds: an entry of the window's first second lies before its milliseconds.
  const fromMs = Math.floor(Math.max(wantedMs, oldestMs) / 1000) * 1000;
  // A clock that was put back must not make us skip what came since.
  const baseMs = cursorMs === undefined ? fromMs : Math.min(cursorMs, nowMs);
  // An entry's age counts by as much more as their clock may be ahead of ours: the receiver judges it so, too.
  const forgottenMs = nowMs - rememberedMs + overlapMs;
  // An earlier run has settled the overlap. While nothing new moves the cursor on, each run would read it again, until the receiver
  // has forgotten its events: they would be applied a second time, or be refused as stale by every run.
  return { fromMs: Math.max(fromMs, Math.min(forgottenMs, baseMs)), baseMs };
}

/** What a run came to. */
export interface RunFacts {
  readonly startedMs: number;
  /** Where the run began, see {@link Window}; undefined where it read nothing. */
  readonly baseMs: number | undefined;
  /** The time of the newest entry that it read. */
  readonly newestMs: number | undefined;
  /** The time of the oldest entry that the next run must find in its window. */
  readonly heldMs: number | undefined;
  /** Newer entries wait for the next run. */
  readonly isCut: boolean;
}

/** Up to when everything was looked at, and the cursor for the next run. */
export interface RunEnd {
  readonly untilMs: number;
  readonly cursorMs: number;
}

/**
 * The cursor is the provider's time, just after the newest entry: by our own clock, an hour that it once ran fast would later be
 * an hour of downtime that nobody reads. Where the log has nothing new, it stays. It never goes back: every run that ends within its
 * overlap would read five minutes more than the one before, and the next run reads the overlap anyway.
 */
export function afterRun({ startedMs, baseMs, newestMs = -Infinity, heldMs, isCut }: RunFacts): RunEnd {
  const leastMs = baseMs ?? startedMs;
  // Of a window that was cut, entries of the newest one's very moment may be missing.
  const reachedMs = Math.max(leastMs, isCut ? newestMs : newestMs + 1);
  const untilMs = Math.min(startedMs, heldMs ?? startedMs, isCut ? reachedMs : startedMs);
  return { untilMs, cursorMs: Math.max(baseMs ?? -Infinity, Math.min(untilMs, reachedMs)) };
}
