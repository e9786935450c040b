import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import type { LaneChange } from "../../../lanes/lane.js";
import { redriven } from "../../../lanes/lane.js";
import type { Redriven } from "../../../operator/operator-store.js";
import { bigint, columns, number } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { LockedLane } from "../lanes/lane-row.js";
import { lockedLanesOf, LOOSE_COLUMNS, readLockedSql } from "../lanes/lane-row.js";
import { NOBODY, writeTurns } from "../lanes/lane-write.js";
import { unleasedTurn } from "../lanes/run.js";
import type { Tables } from "../schema/tables.js";
import { lockLane } from "./skip.js";

/** Makes a dead delivery due again. Its lane is locked first, as a worker does that writes a dead letter. */
export function redrive({ transactions, tables }: StoreDatabase, place: DeliveryPlace): Promise<Redriven> {
  return transactions.run(async (session) => {
    const locked =
      place.kind === "lane"
        ? await lockLane(session, place.lane, tables)
        : await lockLoose(session, place.id, tables);
    if (locked === undefined) return "unknown";
    const dead = await resolveDead(session, place, tables);
    if (dead === undefined) return "unknown";
    const change = redriven(locked.lane, place.kind === "lane" ? place.sequence : 0n);
    if (change === undefined) {
      await stageAgain(session, dead, tables);
      return "at_end";
    }
    await reviveHead(session, { locked, change }, tables);
    return place.kind === "lane" ? "in_place" : "at_end";
  });
}

interface DeadValues {
  readonly eventId: bigint;
  readonly consumer: bigint;
  readonly round: number;
}

const DEAD = columns<DeadValues>({
  eventId: bigint("event_id"),
  consumer: bigint("consumer_id"),
  round: number("round"),
});

/** Marks a dead letter as redriven; undefined where there is none that is listed. */
async function resolveDead(
  session: Session,
  place: DeliveryPlace,
  { dead, consumer }: Tables,
): Promise<DeadValues | undefined> {
  const [which, params] =
    place.kind === "lane"
      ? ["lane_id = $1::text::int8 and seq = $2::text::int8", [String(place.lane), String(place.sequence)]]
      : ["loose_id = $1::text::int8", [String(place.id)]];
  const { rows } = await session.query({
    text: `
      update ${dead} as dead set resolved_at = clock_timestamp(), resolved_how = 'redriven'
      where ${which} and resolved_at is null and exists (
        select from ${consumer} as consumer where consumer.id = dead.consumer_id and removed_at is null
      )
      returning ${DEAD.list}`,
    params,
  });
  return rows[0] && DEAD.read(rows[0]);
}

async function lockLoose(session: Session, id: bigint, tables: Tables): Promise<LockedLane | undefined> {
  const { rows } = await session.query({
    text: `
      with locked as materialized (
        select 1 as n, 0::int8 as read_from, 1 as read_max, loose.* from (
          select ${LOOSE_COLUMNS}
          from ${tables.loose} where id = $1::text::int8 for update
        ) as loose
      )
      ${readLockedSql("locked", tables)}`,
    params: [String(id)],
  });
  return lockedLanesOf(rows).get(1);
}

/** By way of the stage: only the sequencer lengthens lanes. */
async function stageAgain(
  session: Session,
  { eventId, consumer, round }: DeadValues,
  { stage }: Tables,
): Promise<void> {
  await session.query({
    text: `
      insert into ${stage} (event_id, target_consumer_id, round)
      values ($1::text::int8, $2::text::int8, $3::text::int4)`,
    params: [String(eventId), String(consumer), String(round + 1)],
  });
}

/** The dead head is due again, in its place and in its next round. */
async function reviveHead(
  session: Session,
  { locked, change }: { readonly locked: LockedLane; readonly change: LaneChange },
  tables: Tables,
): Promise<void> {
  const { lane, identity } = locked;
  if (lane.kind === "lane") {
    await session.query({
      text: `
        update ${tables.delivery} set round = $3::text::int4
        where lane_id = $1::text::int8 and seq = $2::text::int8`,
      params: [String(identity.id), String(change.head), String(change.round)],
    });
  }
  await session.query(writeTurns([unleasedTurn(locked, change)], NOBODY, tables));
}
