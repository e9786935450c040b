import type { SqliteClient } from "../../client/client.js";

/**
 * The number of the first event that was written at this time or later; one above the last where there is none. Numbers
 * grow as events are written, so that a search by halves finds it without an index by time. Where the clock was set back
 * in between, events of the time that happened twice may be left out or listed with the others.
 */
export function writtenBound(client: SqliteClient, at: Date): bigint {
  // Each by itself: asked for both at once, SQLite reads every row.
  const { low: first, high: last } = client.getWide(
    `select (select coalesce(min(id), 1) from posthorn_event) as low,
       (select coalesce(max(id), 0) + 1 from posthorn_event) as high`,
  ) as { low: bigint; high: bigint };
  let [low, high] = [first, last];
  while (low < high) {
    const half = (low + high) / 2n;
    const middle = client.getWide(
      "select id, written_at from posthorn_event where id >= ? order by id limit 1",
      half,
    ) as { id: bigint; written_at: bigint } | undefined;
    if (middle !== undefined && Number(middle.written_at) < at.getTime()) low = middle.id + 1n;
    else high = half;
  }
  return low;
}
