import { unknownOption } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import type { RetentionErrorCode } from "./retention-errors.js";
import type { RemovalStep } from "./retention-store.js";
import { RETENTION_KINDS } from "./retention-store.js";

const DAY_MS = 86_400_000;

/** How long each kind of record is kept, in milliseconds; `Infinity` = for ever. */
export interface RetentionWindows {
  /** From its writing on, unless something of it is still open. @default 30 days */
  readonly eventsMs: number;
  /** From the writing of their event on. They go with their event at the latest. @default 30 days */
  readonly attemptsMs: number;
  /** What endpoints answered, from the writing of their event on. They go with their attempts at the latest. @default 30 days */
  readonly answersMs: number;
  /** Of deliveries that were skipped, had expired or lost their endpoint. They go with their event at the latest. @default 30 days */
  readonly cancelledMs: number;
  /** Of dead letters, from the moment on when they were resolved; unresolved ones stay. Their event stays with them. @default 90 days */
  readonly deadMs: number;
  /** Of events that could not be given their places, from the moment on when they were resolved. @default 30 days */
  readonly setAsideMs: number;
  /** Of ids that publishers gave, from publishing on; an id is known at least as long as its event is there. @default 30 days */
  readonly idsMs: number;
}

/** How long each kind of record is kept unless somebody says otherwise. */
export const DEFAULT_WINDOWS: RetentionWindows = Object.freeze({
  eventsMs: 30 * DAY_MS,
  attemptsMs: 30 * DAY_MS,
  answersMs: 30 * DAY_MS,
  cancelledMs: 30 * DAY_MS,
  deadMs: 90 * DAY_MS,
  setAsideMs: 30 * DAY_MS,
  idsMs: 30 * DAY_MS,
});

/** A kind of which something may go, and its window. */
export type PlannedKind = Pick<RemovalStep, "kind" | "windowMs" | "idWindowMs">;

/** What a pass has to do, in its order. What would go with its event anyway needs no step of its own. */
export function plannedKinds(windows: RetentionWindows): readonly PlannedKind[] {
  const { eventsMs, attemptsMs, answersMs, idsMs } = windows;
  const windowOf = {
    answers: answersMs < Math.min(attemptsMs, eventsMs) ? answersMs : Infinity,
    attempts: attemptsMs < eventsMs ? attemptsMs : Infinity,
    cancelled: windows.cancelledMs < eventsMs ? windows.cancelledMs : Infinity,
    dead: windows.deadMs,
    set_aside: windows.setAsideMs,
    ids: eventsMs < idsMs && idsMs < Infinity ? 0 : Infinity,
    events: eventsMs,
  };
  const planned = RETENTION_KINDS.filter((kind) => windowOf[kind] < Infinity);
  return planned.map((kind) => {
    const windowMs = windowOf[kind];
    return kind === "events" ? { kind, windowMs, idWindowMs: idsMs } : { kind, windowMs };
  });
}

/** Refuses a misspelt name: what it was to keep would be removed after the default window. */
export function checkRetentionNames(of: string, given: unknown, known: Readonly<object>): void {
  const unknown = unknownOption(of, given, known);
  if (unknown !== undefined) throw new PosthornError<RetentionErrorCode>("retention_invalid", unknown);
}

/** Windows that are given, over the defaults; each must be a time. */
export function checkedWindows(given: Partial<RetentionWindows>): RetentionWindows {
  checkRetentionNames("the windows of createRetention", given, DEFAULT_WINDOWS);
  const windows = { ...DEFAULT_WINDOWS, ...given };
  for (const [name, ms] of Object.entries(windows)) {
    if (typeof ms === "number" && ms >= 0) continue;
    throw new PosthornError<RetentionErrorCode>(
      "retention_invalid",
      `createRetention: windows.${name} is ${String(ms)}; expected milliseconds, 0 or more, or Infinity to keep them for ever.`,
    );
  }
  return Object.freeze(windows);
}
