import type { DeadBecause } from "../../../../lanes/dead.js";
import type { DeadGroupFilter } from "../../../../operator/dead-filter.js";
import type { DeadGroup } from "../../../../operator/dead-store.js";
import { ownerOf } from "../../../../outbox/fan-out.js";
import type { SqliteClient } from "../../client/client.js";
import type { OutboxTurn } from "../../outbox/turn.js";
import type { DeadRange } from "./dead-filter.js";
import { groupsOf, rangeOf } from "./dead-filter.js";

/** Dead letters that died alike, by their counters; largest group first. */
export function deadGroups(turn: OutboxTurn, filter: DeadGroupFilter): readonly DeadGroup[] {
  const { byNumber } = turn.consumers;
  const groups = groupsOf(turn, filter).flatMap((row): DeadGroup[] => {
    const consumer = byNumber.get(row.consumer);
    const range = rangeOf(turn, row, filter.tenant);
    // A handler's groups are counted for all tenants: those of one are counted one by one.
    const isCounted = filter.tenant === undefined || ownerOf(consumer) !== undefined;
    const count = isCounted ? Number(row.count) : countOf(turn.client, range);
    if (count === 0) return [];
    return [
      {
        tenant: ownerOf(consumer) ?? "",
        endpointId: consumer?.id ?? "",
        because: row.because as DeadBecause,
        status: row.status === 0n ? undefined : Number(row.status),
        error: row.error === "" ? undefined : row.error,
        count,
        firstAt: diedAt(turn.client, range, "asc"),
        lastAt: diedAt(turn.client, range, "desc"),
      },
    ];
  });
  return groups.toSorted((a, b) => b.count - a.count);
}

function countOf(client: SqliteClient, { where, values }: DeadRange): number {
  const row = client.get(`select count(*) as count from posthorn_dead d where ${where}`, ...values);
  return (row as { count: number } | undefined)?.count ?? 0;
}

function diedAt(client: SqliteClient, { where, values }: DeadRange, order: string): Date {
  const row = client.get(
    `select d.died_at from posthorn_dead d where ${where} order by d.died_at ${order}, d.id ${order} limit 1`,
    ...values,
  ) as { died_at: number } | undefined;
  return new Date(row?.died_at ?? 0);
}
