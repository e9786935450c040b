import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import type { OptionNames } from "../../../known-options.js";
import { checkStoreOptions } from "../../../store-options.js";
import type { SqliteClient, SqliteDatabase } from "../client/client.js";
import { DEFAULT_WAIT_MS } from "../client/options.js";
import { writeOnce } from "../client/connection.js";

/** How leases are ended. */
export interface EndLeasesOptions {
  /** How long it may wait for the write lock. @default 5,000 */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

const OPTIONS: OptionNames<EndLeasesOptions> = { waitMs: true, clock: true };

/**
 * Ends the leases now, whoever has them, and says how many. For a process that alone works on the database, at its start:
 * what another had under way when it died is due at once. To the next claim each has lapsed, so that an event which
 * kills its process is known by it; what has lapsed before waits for the end of its lease.
 *
 * @example
 * await migrate(db);
 * await endLeases(db);
 */
export async function endLeases(db: SqliteDatabase, options: EndLeasesOptions = {}): Promise<number> {
  checkStoreOptions("endLeases", options, OPTIONS);
  const { waitMs = DEFAULT_WAIT_MS, clock = systemClock } = options;
  const nowMs = Math.floor(clock.now());
  return writeOnce(
    db,
    { name: "endLeases", waitMs },
    (client) => endIn(client, "posthorn_lane", nowMs) + endIn(client, "posthorn_loose_delivery", nowMs),
  );
}

// The lease ends and is not taken away: what becomes of a lapse is the next claim's to decide, and a lapse that no claim
// sees counts for nothing, so that a poison event would kill its process for ever. The epoch stays, because that claim
// raises it. No lease ends before it began: clocks are set back. What has lapsed before waits for its own time: a
// process that is killed four times within seconds, for whatever reason, would else condemn innocent deliveries.
function endIn(
  client: SqliteClient,
  table: "posthorn_lane" | "posthorn_loose_delivery",
  nowMs: number,
): number {
  return client.run(
    `update ${table} set ready_at = ?, leased_until = max(leased_at, ?)
     where leased_by is not null and lapses = 0 and ready_at > ?`,
    nowMs,
    nowMs,
    nowMs,
  );
}
