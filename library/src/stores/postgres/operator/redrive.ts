import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import type { Redriven } from "../../../operator/operator-store.js";
import type { Row, Session } from "../client/database.js";
import { revivedChange } from "../lanes/lane-change.js";
import { lockLane } from "../lanes/lock-lane.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import { writeLane } from "./skip.js";

/** Makes a dead delivery due again. */
export function redriveDead(
  transactions: OwnTransactions,
  place: DeliveryPlace,
  tables: OutboxTables,
): Promise<Redriven> {
  return transactions.run((session) =>
    place.kind === "lane"
      ? redriveInLane(session, place, tables)
      : redriveLoose(session, String(place.id), tables),
  );
}

async function redriveInLane(
  session: Session,
  { lane, sequence }: { readonly lane: bigint; readonly sequence: bigint },
  tables: OutboxTables,
): Promise<Redriven> {
  // Locked first, as a worker does that writes a dead letter.
  const locked = await lockLane(session, lane, tables);
  if (locked === undefined) return "unknown";
  const dead = await takeDead(
    session,
    `lane_id = $1::text::int8 and seq = $2::text::int8`,
    [String(lane), String(sequence)],
    tables,
  );
  if (dead === undefined) return "unknown";
  const [eventId, endpointId, round] = dead;
  if (locked.headIsDead && locked.row.head === sequence) {
    await session.query({
      text: `update ${tables.delivery} set round = $3::text::int4 + 1 where lane_id = $1::text::int8 and seq = $2::text::int8`,
      params: [String(lane), String(sequence), round ?? null],
    });
    await writeLane(session, revivedChange(locked.row), tables);
    return "in_place";
  }
  // By way of the stage: only the sequencer lengthens lanes.
  await session.query({
    text: `
      insert into ${tables.stage} (event_id, target_endpoint_id, round)
      values ($1::text::int8, $2::text::int8, $3::text::int4 + 1)`,
    params: [eventId ?? null, endpointId ?? null, round ?? null],
  });
  return "at_end";
}

async function redriveLoose(session: Session, id: string, tables: OutboxTables): Promise<Redriven> {
  const { rows } = await session.query({
    text: `select id::text from ${tables.loose} where id = $1::text::int8 for update`,
    params: [id],
  });
  if (rows.length === 0) return "unknown";
  const dead = await takeDead(session, `loose_id = $1::text::int8`, [id], tables);
  if (dead === undefined) return "unknown";
  await session.query({
    text: `
      update ${tables.loose} set round = $2::text::int4 + 1, attempts = 0, failures = 0, lapses = 0,
        ready_at = clock_timestamp()
      where id = $1::text::int8`,
    params: [id, dead[2] ?? null],
  });
  return "at_end";
}

/** Marks a dead letter as redriven; undefined where there is none that waits for it. */
async function takeDead(
  session: Session,
  which: string,
  params: readonly string[],
  { dead, endpoint }: OutboxTables,
): Promise<Row | undefined> {
  const { rows } = await session.query({
    text: `
      update ${dead} as dead set redriven_at = clock_timestamp()
      where ${which} and redriven_at is null and exists (
        select from ${endpoint} as endpoint where endpoint.id = dead.endpoint_id and removed_at is null
      )
      returning event_id::text, endpoint_id::text, round::text`,
    params,
  });
  return rows[0];
}
