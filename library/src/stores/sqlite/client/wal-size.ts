import type { SqliteClient } from "./client.js";

// Thirty times what SQLite lets a log grow to before it empties it by itself.
const ALARMING_BYTES = 128 * 1024 * 1024;

/** Copies the log into the database, as far as readers allow; the size of what must stay in it, where that is alarming. */
export function alarmingWalBytes(client: SqliteClient): number | undefined {
  const { log, checkpointed } = client.get("pragma wal_checkpoint(passive)") as {
    readonly log: number;
    readonly checkpointed: number;
  };
  const bytes = (log - checkpointed) * Number(client.pragma("page_size"));
  return bytes > ALARMING_BYTES ? bytes : undefined;
}
