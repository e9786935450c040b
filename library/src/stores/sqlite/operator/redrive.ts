import { reach } from "#faults";
import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import { redriven } from "../../../lanes/lane.js";
import type { DeadRound, RedrivenRound } from "../../../operator/dead-store.js";
import type { Redriven } from "../../../operator/operator-store.js";
import { isHandler, placeIn } from "../../../outbox/fan-out.js";
import type { RecordPlace } from "../lanes/attempt-rows.js";
import { changeLane } from "../lanes/lane-write.js";
import { readRow } from "../lanes/lane-row.js";
import { placeAgain } from "../lanes/places.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { recordPlaceOf } from "./views/attempts.js";

interface DeadColumns extends RecordPlace {
  readonly id: bigint;
  readonly round: bigint;
  readonly event: bigint;
  readonly consumer: bigint;
  readonly tenant: string;
  readonly source: string;
  readonly key: string | null;
  readonly how: string | null;
}

/** Redrives each in its round; one that died again since then is in another round, and stays. */
export function redriveRounds(turn: OutboxTurn, letters: readonly DeadRound[]): readonly RedrivenRound[] {
  return letters.map(({ id, round }) => {
    const place = parseDeliveryId(id);
    if (place === undefined) return "unknown";
    const { lane, seq } = recordPlaceOf(place);
    const dead = turn.client.get(
      "select resolved_how as how from posthorn_dead where lane = ? and seq = ? and round = ?",
      lane,
      seq,
      round,
    ) as { how: string | null } | undefined;
    if (dead?.how === "redriven") return "before";
    const passed = turn.client.get(
      "select because from posthorn_cancelled where lane = ? and seq = ? and round = ?",
      lane,
      seq,
      round,
    ) as { because: string } | undefined;
    return passed?.because === "redriven" ? "before" : redriveDead(turn, id, round);
  });
}

/**
 * Makes a dead delivery due again, in its next round: at the head of its lane where it still is, else at the end. Without a round,
 * in the one in which it is dead now.
 */
export function redriveDead(turn: OutboxTurn, deliveryId: string, inRound?: number): Redriven {
  const place = parseDeliveryId(deliveryId);
  const dead = place && findDead(turn, recordPlaceOf(place), inRound);
  const consumer = dead && turn.consumers.byNumber.get(dead.consumer);
  if (place !== undefined && dead === undefined) return redriveCancelled(turn, recordPlaceOf(place), inRound);
  if (place === undefined || dead === undefined || consumer === undefined) return "unknown";
  // The receiver of an endpoint was told of the gap.
  if (dead.how === "cancelled" && !isHandler(consumer)) return "unknown";
  const row = readRow(turn.client, place.kind, place.kind === "lane" ? place.lane : place.id);
  const change = row && redriven(row.lane, place.kind === "lane" ? place.sequence : 0n);
  if (place.kind === "loose" && change === undefined) return "unknown";
  reach("redrive.before_record");
  resolve(turn, dead.id);
  if (row !== undefined && change !== undefined) {
    changeLane(turn, row, change);
    reach("redrive.after_record");
    return place.kind === "lane" ? "in_place" : "at_end";
  }
  const round = Number(dead.round) + 1;
  const { tenant, source } = dead;
  placeAgain(turn, placeIn(consumer, { tenant, source, key: dead.key ?? undefined }), {
    event: dead.event,
    round,
  });
  reach("redrive.after_record");
  return "at_end";
}

/** Puts a delivery at a handler that a person passed over while it waited at the end of its lane. */
function redriveCancelled(turn: OutboxTurn, { lane, seq }: RecordPlace, inRound?: number): Redriven {
  const { client, consumers } = turn;
  const passed = client.getWide(
    `select c.lane, c.seq, c.round, c.event, c.consumer, e.tenant, e.source, e.key
     from posthorn_cancelled c cross join posthorn_event e on e.id = c.event
     where c.lane = ? and c.seq = ? and c.because in ('skipped', 'cancelled') and c.round = coalesce(?, c.round)
     order by c.round desc limit 1`,
    lane,
    seq,
    inRound ?? null,
  ) as Omit<DeadColumns, "id" | "how"> | undefined;
  const consumer = passed && consumers.byNumber.get(passed.consumer);
  if (passed === undefined || consumer === undefined || !isHandler(consumer)) return "unknown";
  reach("redrive.before_record");
  // A second call must find nothing, as of a dead letter.
  client.run(
    "update posthorn_cancelled set because = 'redriven' where lane = ? and seq = ? and round = ?",
    lane,
    seq,
    passed.round,
  );
  const { tenant, source, event } = passed;
  const place = placeIn(consumer, { tenant, source, key: passed.key ?? undefined });
  placeAgain(turn, place, { event, round: Number(passed.round) + 1 });
  reach("redrive.after_record");
  return "at_end";
}

function findDead(
  { client }: OutboxTurn,
  { lane, seq }: RecordPlace,
  inRound?: number,
): DeadColumns | undefined {
  const row = client.getWide(
    `select d.id, d.lane, d.seq, d.round, d.event, d.consumer, d.resolved_how as how, e.tenant, e.source, e.key
     from posthorn_dead d cross join posthorn_event e on e.id = d.event
     where d.lane = ? and d.seq = ? and (d.resolved_at is null or d.resolved_how in ('skipped', 'cancelled'))
       and d.round = coalesce(?, d.round)
     order by d.round desc limit 1`,
    lane,
    seq,
    inRound ?? null,
  );
  return row as DeadColumns | undefined;
}

/** A second call must find nothing: it would put the event into its lane twice. */
function resolve({ client, nowMs }: OutboxTurn, id: bigint): void {
  client.run("update posthorn_dead set resolved_at = ?, resolved_how = 'redriven' where id = ?", nowMs, id);
}
