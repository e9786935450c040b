import type { DeadBecause } from "../../../lanes/dead.js";
import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { DeadLetter, Page, Paged } from "../../../operator/operator-store.js";
import { bigint, boolean, columns, instant, number, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";

interface DeadValues extends Omit<DeadLetter, "id"> {
  readonly row: string;
  readonly laneId: bigint | undefined;
  readonly looseId: bigint | undefined;
  readonly because: DeadBecause;
}

const DEAD = columns<DeadValues>({
  row: text("dead.id::text"),
  laneId: optional(bigint("dead.lane_id")),
  sequence: optional(bigint("dead.seq")),
  looseId: optional(bigint("loose_id")),
  endpointId: text("consumer.public_id"),
  tenant: text("consumer.tenant"),
  key: optional(text("lane.key")),
  eventId: text("event.public_id"),
  type: text("event.type"),
  round: number("dead.round"),
  because: text("dead.because"),
  diedAt: instant("died_at"),
  attempts: number("dead.attempts"),
  lastStatus: optional(number("last_status")),
  lastError: optional(text("last_error")),
  blocks: boolean("coalesce(state.head_seq = dead.seq and state.state <> 'flowing', false)"),
});

/** Lists deliveries that were given up and are not resolved, newest first. */
export async function listDeadLetters(
  { transactions, tables }: StoreDatabase,
  { limit, after = "" }: Page,
): Promise<Paged<DeadLetter>> {
  const { dead, consumer, event, lane, laneState } = tables;
  const { rows } = await transactions.read({
    text: `
      select ${DEAD.list}
      from ${dead} as dead
      join ${consumer} as consumer on consumer.id = dead.consumer_id and removed_at is null
      join ${event} as event on event.id = dead.event_id
      left join ${lane} as lane on lane.lane_id = dead.lane_id
      left join ${laneState} as state on state.lane_id = dead.lane_id
      where resolved_at is null and ($1::text is null or dead.id < $1::text::int8)
      order by dead.id desc limit $2::text::int8`,
    params: [/^\d{1,19}$/.test(after) ? after : null, String(limit + 1)],
  });
  const listed = rows.slice(0, limit).map((row) => DEAD.read(row));
  return {
    items: listed.map(deadLetterOf),
    next: rows.length > limit ? listed.at(-1)?.row : undefined,
  };
}

function deadLetterOf({ row: _row, laneId, looseId, ...letter }: DeadValues): DeadLetter {
  const { sequence = 0n } = letter;
  const place: DeliveryPlace =
    laneId === undefined ? { kind: "loose", id: looseId ?? 0n } : { kind: "lane", lane: laneId, sequence };
  return { id: deliveryIdOf(place), ...letter };
}
