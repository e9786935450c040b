import type { DeadBecause } from "../../../../lanes/dead.js";
import type { DeliveryPlace } from "../../../../lanes/delivery-id.js";
import { deliveryIdOf } from "../../../../lanes/delivery-id.js";
import { cursorOf, numbersOfCursor } from "../../../../operator/cursor.js";
import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadLetter, Page, Paged } from "../../../../operator/operator-store.js";
import { bigint, boolean, columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { foundSql, Parameters } from "./dead-filter.js";

interface DeadValues extends Omit<DeadLetter, "id"> {
  readonly looseId: bigint | undefined;
  readonly because: DeadBecause;
}

const DEAD = columns<DeadValues>({
  number: bigint("dead.id"),
  laneId: optional(bigint("dead.lane_id")),
  sequence: optional(bigint("dead.seq")),
  looseId: optional(bigint("loose_id")),
  endpointId: text("consumer.public_id"),
  // A handler belongs to no tenant, and its events do.
  tenant: text(
    "case consumer.kind when 'handler' then coalesce(lane.tenant, event.tenant, '') else consumer.tenant end",
  ),
  key: optional(text("lane.key")),
  eventId: text("coalesce(event.public_id, '')"),
  type: text("coalesce(event.type, '')"),
  round: number("dead.round"),
  because: text("dead.because"),
  diedAt: instant("dead.died_at"),
  attempts: number("dead.attempts"),
  lastStatus: optional(number("last_status")),
  lastError: optional(text("last_error")),
  blocks: boolean("coalesce(state.head_seq = dead.seq and state.state <> 'flowing', false)"),
});

/** Lists deliveries that were given up and are not resolved, newest first unless the filter says otherwise. */
export async function listDeadLetters(
  { transactions, tables }: StoreDatabase,
  { limit, after }: Page,
  filter: DeadFilter = {},
): Promise<Paged<DeadLetter>> {
  const { dead, consumer, event, lane, laneState } = tables;
  const params = new Parameters();
  const [diedMs, id] = numbersOfCursor(after, 2) ?? [];
  const past = diedMs === undefined || id === undefined ? undefined : { diedMs, id };
  const found = foundSql(filter, { limit: limit + 1, after: past }, { params, tables });
  const order = filter.order === "oldest" ? "asc" : "desc";
  const { rows } = await transactions.read({
    text: `
      with ${found}
      select ${DEAD.list}
      from found join ${dead} as dead on dead.id = found.id
      join ${consumer} as consumer on consumer.id = dead.consumer_id
      left join ${event} as event on event.id = dead.event_id
      left join ${lane} as lane on lane.lane_id = dead.lane_id
      left join ${laneState} as state on state.lane_id = dead.lane_id
      order by dead.died_at ${order}, dead.id ${order}`,
    params: params.values,
  });
  const listed = rows.slice(0, limit).map((row) => DEAD.read(row));
  const last = rows.length > limit ? listed.at(-1) : undefined;
  return {
    items: listed.map(deadLetterOf),
    // Deaths are written to the millisecond, so that these numbers are all of their times.
    next: last && cursorOf(BigInt(last.diedAt.getTime()), last.number),
  };
}

function deadLetterOf({ looseId, ...letter }: DeadValues): DeadLetter {
  const { laneId, sequence = 0n } = letter;
  const place: DeliveryPlace =
    laneId === undefined ? { kind: "loose", id: looseId ?? 0n } : { kind: "lane", lane: laneId, sequence };
  return { id: deliveryIdOf(place), ...letter };
}
