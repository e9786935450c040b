import type { DeadBecause } from "../../../lanes/dead.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { DeadLetter, Page, Paged } from "../../../operator/operator-store.js";
import type { Row } from "../client/database.js";
import { millisecondsOf } from "../inbox/inbox-row.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

/** Lists deliveries that were given up and not redriven, newest first. */
export async function listDead(
  transactions: OwnTransactions,
  { limit, after = "" }: Page,
  { dead, endpoint, event, lane, laneState }: OutboxTables,
): Promise<Paged<DeadLetter>> {
  const { rows } = await transactions.read({
    text: `
      select dead.id::text, dead.lane_id::text, dead.seq::text, loose_id::text, endpoint.public_id, endpoint.tenant,
        lane.key, event.public_id, event.type, dead.round::text, dead.because, ${millisecondsOf("died_at")},
        dead.attempts::text, last_status::text, last_error,
        (state.head_seq = dead.seq and state.state <> 'flowing')::text
      from ${dead} as dead
      join ${endpoint} as endpoint on endpoint.id = dead.endpoint_id and removed_at is null
      join ${event} as event on event.id = dead.event_id
      left join ${lane} as lane on lane.lane_id = dead.lane_id
      left join ${laneState} as state on state.lane_id = dead.lane_id
      where redriven_at is null and ($1::text is null or dead.id < $1::text::int8)
      order by dead.id desc limit $2::text::int8`,
    params: [/^\d{1,19}$/.test(after) ? after : null, String(limit + 1)],
  });
  const listed = rows.slice(0, limit);
  return {
    items: listed.map(deadLetterOf),
    next: rows.length > limit ? (listed.at(-1)?.[0] ?? undefined) : undefined,
  };
}

function deadLetterOf(row: Row): DeadLetter {
  const [, laneId, seq, looseId, endpointId, tenant, key, eventId, type, round, because, diedMs] = row;
  const [attempts, lastStatus, lastError, blocks] = row.slice(12);
  const place =
    typeof laneId === "string"
      ? ({ kind: "lane", lane: BigInt(laneId), sequence: BigInt(seq ?? "") } as const)
      : ({ kind: "loose", id: BigInt(looseId ?? "") } as const);
  return {
    id: deliveryIdOf(place),
    tenant: tenant ?? "",
    endpointId: endpointId ?? "",
    key: key ?? undefined,
    sequence: place.kind === "lane" ? place.sequence : undefined,
    eventId: eventId ?? "",
    type: type ?? "",
    round: Number(round),
    because: because as DeadBecause,
    diedAt: new Date(Number(diedMs)),
    attempts: Number(attempts),
    lastStatus: typeof lastStatus === "string" ? Number(lastStatus) : undefined,
    lastError: lastError ?? undefined,
    blocks: blocks === "true",
  };
}
