import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadSummary } from "../../../../operator/dead-store.js";
import { MOST_SUMMED } from "../../../../operator/dead-store.js";
import type { OutboxTurn } from "../../outbox/turn.js";
import { rangesOf } from "./dead-filter.js";

interface SummedColumns {
  readonly id: bigint;
  readonly lane: bigint;
  readonly died_at: bigint;
  readonly consumer: bigint;
  /** What waits behind it where it blocks its lane; null where it does not. */
  readonly behind: bigint | null;
}

/** What the dead letters of a filter come to. */
export function deadSummary(turn: OutboxTurn, filter: DeadFilter): DeadSummary {
  const found = rangesOf(turn, filter).flatMap(
    ({ where, values }) =>
      turn.client.allWide(
        `select d.id, d.lane, d.died_at, d.consumer,
           case when l.state <> 'flowing' and l.head_seq = d.seq then l.next_seq - l.head_seq - 1 end as behind
         from posthorn_dead d left join posthorn_lane l on l.id = d.lane
         where ${where} order by d.died_at, d.id limit ?`,
        ...values,
        MOST_SUMMED + 1,
      ) as SummedColumns[],
  );
  const { byNumber } = turn.consumers;
  const listed = found.filter(({ consumer }) => byNumber.has(consumer)).toSorted(byDeath);
  const rows = listed.slice(0, MOST_SUMMED);
  const blocking = rows.filter(({ behind }) => behind !== null);
  const endpoints = new Map<string, number>();
  for (const { consumer } of rows) {
    const id = byNumber.get(consumer)?.id ?? "";
    endpoints.set(id, (endpoints.get(id) ?? 0) + 1);
  }
  return {
    count: rows.length,
    more: listed.length > rows.length,
    upTo: rows.reduce<bigint | undefined>(
      (most, { id }) => (most === undefined || id > most ? id : most),
      undefined,
    ),
    lanes: new Set(rows.filter(({ lane }) => lane !== 0n).map(({ lane }) => lane)).size,
    blocking: blocking.length,
    waitingBehind: blocking.reduce((sum, { behind }) => sum + Number(behind), 0),
    endpoints: [...endpoints].map(([endpointId, count]) => ({ endpointId, count })),
  };
}

function byDeath(a: SummedColumns, b: SummedColumns): number {
  return Number(a.died_at - b.died_at) || Number(a.id - b.id);
}
