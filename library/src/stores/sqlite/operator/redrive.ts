import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import type { Redriven } from "../../../operator/operator-store.js";
import { placeIn } from "../../../outbox/fan-out.js";
import { readLane, saveLane } from "../lanes/lane.js";
import type { Lane } from "../lanes/lane.js";
import { readLoose, saveLoose } from "../lanes/loose.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { placeAgain } from "../lanes/places.js";

interface DeadColumns {
  readonly id: bigint;
  readonly lane: bigint;
  readonly seq: bigint;
  readonly round: bigint;
  readonly event: bigint;
  readonly endpoint: bigint;
  readonly key: string | null;
}

/** Makes a dead delivery due again, in its next round. */
export function redriveDead(turn: OutboxTurn, deliveryId: string): Redriven {
  const place = parseDeliveryId(deliveryId);
  const dead = place && findDead(turn, place);
  const endpoint = dead && turn.endpoints.byNumber.get(dead.endpoint);
  if (dead === undefined || endpoint === undefined) return "unknown";
  // A second call must find nothing: it would put the event into its lane twice.
  turn.client.run("update posthorn_dead set state = 'redriven' where id = ?", dead.id);
  const round = Number(dead.round) + 1;
  if (dead.lane === 0n) return redriveLoose(turn, dead.seq, round);
  const lane = readLane(turn.client, dead.lane);
  if (lane !== undefined && lane.state !== "flowing" && lane.headSeq === dead.seq) {
    resumeAtHead(turn, lane, round);
    return "in_place";
  }
  placeAgain(turn, placeIn(endpoint, dead.key ?? undefined), { event: dead.event, round });
  return "at_end";
}

function findDead({ client }: OutboxTurn, place: DeliveryPlace): DeadColumns | undefined {
  const [lane, seq] = place.kind === "lane" ? [place.lane, place.sequence] : [0n, place.id];
  const row = client.getWide(
    `select d.id, d.lane, d.seq, d.round, d.event, d.endpoint, e.key
     from posthorn_dead d cross join posthorn_event e on e.id = d.event
     where d.lane = ? and d.seq = ? and d.state = 'dead' order by d.round desc limit 1`,
    lane,
    seq,
  );
  return row as DeadColumns | undefined;
}

function resumeAtHead({ client, nowMs }: OutboxTurn, lane: Lane, round: number): void {
  client.run(
    "update posthorn_delivery set round = ? where lane = ? and seq = ?",
    round,
    lane.id,
    lane.headSeq,
  );
  lane.state = "flowing";
  lane.blockedAt = null;
  lane.beginRound();
  lane.arm(nowMs);
  saveLane(client, lane);
}

function redriveLoose({ client, nowMs }: OutboxTurn, id: bigint, round: number): Redriven {
  const loose = readLoose(client, id);
  if (loose === undefined) return "unknown";
  loose.round = round;
  loose.attempts = 0;
  loose.failures = 0;
  loose.lapses = 0;
  loose.arm(nowMs);
  saveLoose(client, loose);
  return "at_end";
}
