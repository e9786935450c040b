import type { Clock } from "../../../clock.js";
import type { PurgeLimits, PurgeReport } from "../../../inbox/inbox-store.js";
import type { SqliteClient } from "../client/client.js";

// A thousand large bodies in one transaction would hold the event loop for a second.
const ROWS_PER_TRANSACTION = 100;

/** Removes what is passed, a batch to a transaction, until nothing is left or a limit is met. */
export async function purgeInBatches(
  { maxRows, deadlineMs }: PurgeLimits,
  clock: Clock,
  steps: {
    /** Removes up to so many rows in one transaction, and says how many. */
    readonly remove: (limit: number) => Promise<number>;
    readonly isMore: () => boolean;
  },
): Promise<PurgeReport> {
  const endsAt = clock.monotonic() + deadlineMs;
  let removed = 0;
  while (removed < maxRows) {
    const limit = Math.min(ROWS_PER_TRANSACTION, maxRows - removed);
    const gone = await steps.remove(limit);
    removed += gone;
    if (gone < limit) return { removed, more: false };
    if (clock.monotonic() >= endsAt) break;
  }
  return { removed, more: steps.isMore() };
}

/** Removes up to `limit` rows whose window has passed, oldest first. */
export function removePassed(client: SqliteClient, nowMs: number, limit: number): number {
  const events = removeEvents(client, nowMs, limit);
  return events === limit ? events : events + removeRefused(client, nowMs, limit - events);
}

function removeEvents(client: SqliteClient, nowMs: number, limit: number): number {
  const gone = client.all(
    // Never one that failed: it was not applied, and its next delivery must find its history.
    `delete from posthorn_inbox where rowid in
       (select rowid from posthorn_inbox where keep_until <= ? and outcome <> 'failed' order by keep_until limit ?)
     returning tenant, source, event_id, attempts`,
    nowMs,
    limit,
  ) as { tenant: string; source: string; event_id: string; attempts: number }[];
  for (const { tenant, source, event_id, attempts } of gone) {
    if (attempts === 1) continue;
    // Left behind, they would be taken for attempts of the next event of this id.
    client.run(
      "delete from posthorn_inbox_attempt where tenant = ? and source = ? and event_id = ?",
      tenant,
      source,
      event_id,
    );
  }
  return gone.length;
}

function removeRefused(client: SqliteClient, nowMs: number, limit: number): number {
  return client.run(
    `delete from posthorn_inbox_refused where rowid in
       (select rowid from posthorn_inbox_refused where keep_until <= ? order by keep_until limit ?)`,
    nowMs,
    limit,
  );
}

/** Whether a purge would find something to remove. */
export function isAnyPassed(client: SqliteClient, nowMs: number): boolean {
  const found = client.get(
    `select exists (select 1 from posthorn_inbox where keep_until <= ? and outcome <> 'failed')
         or exists (select 1 from posthorn_inbox_refused where keep_until <= ?) as passed`,
    nowMs,
    nowMs,
  ) as { passed: number } | undefined;
  return found?.passed === 1;
}
