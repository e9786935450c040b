import type { Clock } from "../../../clock.js";
import type { PurgeLimits, PurgeReport } from "../../../inbox/inbox-store.js";
import { optionInvalid } from "../client/identifiers.js";

// Small enough that a batch holds its row locks for a few milliseconds only.
const ROWS_PER_STATEMENT = 500;

/** Removes a batch at a time until nothing is left or a limit is met. */
export async function purgeInBatches(
  { maxRows, deadlineMs }: PurgeLimits,
  clock: Clock,
  steps: {
    /** Removes up to so many rows, and says how many. */
    readonly remove: (limit: number) => Promise<number>;
    readonly isMore: () => Promise<boolean>;
  },
): Promise<PurgeReport> {
  if (!(maxRows >= 1) || !(deadlineMs >= 0)) {
    throw optionInvalid(
      `purge: maxRows is ${maxRows} and deadlineMs ${deadlineMs}; expected 1 or more, and 0 or more.`,
    );
  }
  const endsAt = clock.monotonic() + deadlineMs;
  let removed = 0;
  while (removed < maxRows) {
    const limit = Math.min(ROWS_PER_STATEMENT, Math.floor(maxRows) - removed);
    const gone = await steps.remove(limit);
    removed += gone;
    if (gone < limit) return { removed, more: false };
    if (clock.monotonic() >= endsAt) break;
  }
  return { removed, more: await steps.isMore() };
}
