/** What decides from when on a log is read. */
export interface WindowFacts {
  /** Up to when everything was certainly received; undefined on the very first run. */
  readonly cursorMs: number | undefined;
  readonly nowMs: number;
  /** How far a run reaches back before the cursor: clocks differ, and a log shows a delivery some time after it. */
  readonly overlapMs: number;
  /** How long the provider keeps its log. */
  readonly keptMs: number;
  /** Where the first run begins; undefined = it repairs nothing. */
  readonly sinceMs: number | undefined;
}

/** From when on the log is read: our own downtime and no more. Undefined = there is nothing to repair. */
export function windowStart(facts: WindowFacts): number | undefined {
  const { cursorMs, nowMs, overlapMs, keptMs, sinceMs } = facts;
  const oldest = nowMs - keptMs;
  if (cursorMs === undefined) return sinceMs === undefined ? undefined : Math.max(sinceMs, oldest);
  // A clock that was put back must not make us skip what came since.
  return Math.max(Math.min(cursorMs, nowMs) - overlapMs, oldest);
}

/** What a run came to. */
export interface RunFacts {
  readonly startedMs: number;
  /** The time of the oldest entry that was neither applied nor known; undefined where all were. */
  readonly unsettledMs: number | undefined;
  /** The time of the newest entry that was looked at, where newer ones had to wait for the next run. */
  readonly reachedMs: number | undefined;
}

/** Up to when everything is certainly received after a run: the next one begins here. */
export function nextCursor({ startedMs, unsettledMs, reachedMs }: RunFacts): number {
  return Math.min(startedMs, unsettledMs ?? startedMs, reachedMs ?? startedMs);
}
