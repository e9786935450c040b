import type { DeadBecause } from "../../../lanes/dead.js";
import type { DeadGroupFilter } from "../../../operator/dead-filter.js";
import type { DeadGroup } from "../../../operator/dead-store.js";
import { ownerOf } from "../../../outbox/fan-out.js";
import type { SqliteClient } from "../client/client.js";
import type { OutboxTurn } from "../outbox/turn.js";
import type { GroupColumns } from "./dead-filter.js";
import { groupsOf } from "./dead-filter.js";

/** Dead letters that died alike, by their counters; largest group first. */
export function deadGroups(turn: OutboxTurn, filter: DeadGroupFilter): readonly DeadGroup[] {
  const { byNumber } = turn.consumers;
  const groups = groupsOf(turn, filter).map((row): DeadGroup => {
    const consumer = byNumber.get(row.consumer);
    return {
      tenant: ownerOf(consumer) ?? "",
      endpointId: consumer?.id ?? "",
      because: row.because as DeadBecause,
      status: row.status === 0n ? undefined : Number(row.status),
      error: row.error === "" ? undefined : row.error,
      count: Number(row.count),
      firstAt: diedAt(turn.client, row, "asc"),
      lastAt: diedAt(turn.client, row, "desc"),
    };
  });
  return groups.toSorted((a, b) => b.count - a.count);
}

function diedAt(
  client: SqliteClient,
  { consumer, because, status, error }: GroupColumns,
  order: string,
): Date {
  const row = client.get(
    `select died_at from posthorn_dead where resolved_at is null and consumer = ? and because = ?
       and coalesce(last_status, 0) = ? and coalesce(last_error, '') = ?
     order by died_at ${order}, id ${order} limit 1`,
    consumer,
    because,
    status,
    error,
  ) as { died_at: number } | undefined;
  return new Date(row?.died_at ?? 0);
}
