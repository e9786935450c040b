import type { PurgeLimits, PurgeReport } from "../../../inbox/inbox-store.js";
import { notify } from "../../../observer.js";
import type { SqliteClient } from "../client/client.js";
import { write } from "../client/connection.js";
import { LOCK_WAIT_MS } from "../client/options.js";
import type { ReceiptParts } from "./touch.js";

// A thousand large bodies in one transaction would hold the event loop for a second.
const ROWS_PER_TRANSACTION = 100;
// Thirty times what SQLite lets a log grow to before it empties it by itself.
const ALARMING_BYTES = 128 * 1024 * 1024;

/** Removes rows whose window has passed, a batch to a transaction, until nothing is left or a limit is met; then looks at the log. */
export async function purge(parts: ReceiptParts, limits: PurgeLimits): Promise<PurgeReport> {
  const report = await removeInBatches(parts, limits);
  lookAtWal(parts);
  return report;
}

async function removeInBatches(
  { connection, clock, waitMs }: ReceiptParts,
  { maxRows, deadlineMs }: PurgeLimits,
): Promise<PurgeReport> {
  const { client } = connection;
  const endsAt = clock.monotonic() + deadlineMs;
  let removed = 0;
  while (removed < maxRows) {
    const limit = Math.min(ROWS_PER_TRANSACTION, maxRows - removed);
    const gone = await write(connection, { waitMs }, () => removePassed(client, clock.now(), limit));
    removed += gone;
    if (gone < limit) return { removed, more: false };
    if (clock.monotonic() >= endsAt) break;
  }
  return { removed, more: isAnyPassed(client, clock.now()) };
}

/** Removes up to `limit` rows whose window has passed, oldest first. */
function removePassed(client: SqliteClient, nowMs: number, limit: number): number {
  const events = removeEvents(client, nowMs, limit);
  return events === limit ? events : events + removeRefused(client, nowMs, limit - events);
}

function removeEvents(client: SqliteClient, nowMs: number, limit: number): number {
  const gone = client.all(
    // Never one that failed: such a row has no `keep_until`, because it was not applied, and its next delivery must find
    // its history.
    `delete from posthorn_inbox where rowid in
       (select rowid from posthorn_inbox where keep_until <= ? order by keep_until limit ?)
     returning tenant, source, event_id, consumer, attempts`,
    nowMs,
    limit,
  ) as { tenant: string; source: string; event_id: string; consumer: string; attempts: number }[];
  for (const { tenant, source, event_id, consumer, attempts } of gone) {
    if (attempts === 1) continue;
    // Left behind, they would be taken for attempts of the next event of this id.
    client.run(
      "delete from posthorn_inbox_attempt where tenant = ? and source = ? and event_id = ? and consumer = ?",
      tenant,
      source,
      event_id,
      consumer,
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
function isAnyPassed(client: SqliteClient, nowMs: number): boolean {
  const found = client.get(
    `select exists (select 1 from posthorn_inbox where keep_until <= ?)
         or exists (select 1 from posthorn_inbox_refused where keep_until <= ?) as passed`,
    nowMs,
    nowMs,
  ) as { passed: number } | undefined;
  return found?.passed === 1;
}

function lookAtWal({ connection: { client }, observer }: ReceiptParts): void {
  try {
    const bytes = client.withLockWait(LOCK_WAIT_MS, () => walBytes(client));
    if (bytes > ALARMING_BYTES) notify(observer, { kind: "wal_growing", store: "sqliteStore", bytes });
  } catch {
    // A transaction or query of the host is open on the handle; the next purge looks again.
  }
}

/** Copies the log into the database, as far as readers allow; returns the size of what must stay in it. */
function walBytes(client: SqliteClient): number {
  const { log, checkpointed } = client.get("pragma wal_checkpoint(passive)") as {
    readonly log: number;
    readonly checkpointed: number;
  };
  return (log - checkpointed) * Number(client.pragma("page_size"));
}
