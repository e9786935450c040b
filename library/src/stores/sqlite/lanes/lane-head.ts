import type { DeadBecause } from "../../../lanes/dead.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import { insertAttempt, lapsedAttempt } from "../operator/attempts.js";
import type { CancelledBecause, EndedDelivery } from "./record-ended.js";
import { insertCancelled, insertDead } from "./record-ended.js";
import type { Lane } from "./lane.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** The delivery at the head of a lane that is not empty. */
export interface HeadDelivery {
  readonly event: bigint;
  readonly round: number;
}

export function readHead({ client }: OutboxTurn, lane: Lane): HeadDelivery | undefined {
  const row = client.getWide(
    "select event, round from posthorn_delivery where lane = ? and seq = ?",
    lane.id,
    lane.headSeq,
  ) as { event: bigint; round: bigint } | undefined;
  return row && { event: row.event, round: Number(row.round) };
}

/** Gives the head up. Under `halt` and `park` it stays where it is and its lane stops; under `skip` the lane goes on. */
export function buryHead(
  turn: OutboxTurn,
  lane: Lane,
  { because, policy }: { readonly because: DeadBecause; readonly policy: DeadPolicy },
): void {
  const head = readHead(turn, lane);
  if (head === undefined) return stopBroken(turn, lane);
  insertDead(turn, endedHead(lane, head), because);
  if (policy === "skip") return passHead(turn, lane);
  lane.blockedAt ??= turn.nowMs;
  lane.stop(policy === "halt" ? "halted" : "parked");
}

/** Takes the head out of its lane, which goes on without it: its sequence is used up, and the gap is told on the wire. */
export function cancelHead(turn: OutboxTurn, lane: Lane, because: CancelledBecause): void {
  const head = readHead(turn, lane);
  if (head === undefined) return stopBroken(turn, lane);
  insertCancelled(turn, endedHead(lane, head), because);
  passHead(turn, lane);
}

/** Moves on past a head that was not acknowledged. */
export function passHead({ client, nowMs }: OutboxTurn, lane: Lane): void {
  client.run("delete from posthorn_delivery where lane = ? and seq = ?", lane.id, lane.headSeq);
  lane.advance(1);
  lane.arm(nowMs);
}

/** Notes that the lane's lease ended and nobody settled it. */
export function noteLapse(turn: OutboxTurn, lane: Lane): void {
  // Which event of a run it was that ended the process, nobody knows: each of them goes alone, and none is charged.
  if (lane.runLen > 1) lane.suspectUntil = lane.headSeq + BigInt(lane.runLen);
  else chargeLapse(turn, lane);
  lane.arm(turn.nowMs);
}

function chargeLapse(turn: OutboxTurn, lane: Lane): void {
  lane.attempts++;
  lane.lapses++;
  lane.blockedAt ??= turn.nowMs;
  const head = readHead(turn, lane);
  if (head === undefined) return;
  const lapsed = { sequence: lane.headSeq, round: head.round, number: lane.attempts };
  insertAttempt(
    turn.client,
    { lane: lane.id, seq: lane.headSeq, event: head.event },
    lapsedAttempt(lapsed, lane),
  );
}

/** A head without a delivery: somebody has changed the tables by hand. The lane stops, so that the others do not. */
export function stopBroken(turn: OutboxTurn, lane: Lane): void {
  lane.blockedAt ??= turn.nowMs;
  lane.stop("halted");
  turn.notify({
    kind: "store_failed",
    operation: "claim",
    code: "store_unavailable",
    message: `Lane ${lane.id} was halted: its head, sequence ${lane.headSeq}, is not in posthorn_delivery. Skip it to go on.`,
  });
}

function endedHead(lane: Lane, { event, round }: HeadDelivery): EndedDelivery {
  const { id, headSeq: seq, endpoint, attempts } = lane;
  return { lane: id, seq, event, round, endpoint, attempts };
}
