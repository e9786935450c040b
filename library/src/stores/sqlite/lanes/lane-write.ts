import type { Claim } from "../../../lanes/lane-store.js";
import type { LaneChange } from "../../../lanes/lane.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import { leased, withoutEvent } from "../../../lanes/lane.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import type { SqliteValue } from "../client/client.js";
import { disableEndpoint } from "../outbox/endpoints.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { insertAttempt } from "./attempt-rows.js";
import type { LaneRow } from "./lane-row.js";
import { pauseConsumer } from "./pause.js";
import { insertCancelled, insertDead } from "./record-ended.js";
import type { LeaseTerms } from "./run.js";
import { readRun } from "./run.js";

/** Who may lease a lane once it is changed, and on what terms. */
export interface Leasing {
  readonly consumer: Consumer;
  readonly terms: LeaseTerms;
}

/** Writes what the rule made of a lane, with all records of it, and leases the lane where somebody wants that and the rule allows it. */
export function changeLane(
  turn: OutboxTurn,
  row: LaneRow,
  change: LaneChange,
  leasing?: Leasing,
): Claim | undefined {
  const missing = record(turn, row, change);
  if (change.disabled !== undefined) disableEndpoint(turn, row.consumer, change.disabled);
  if (change.paused !== undefined) pauseConsumer(turn, row.consumer, change.paused);
  if (missing !== undefined) {
    stopBroken(turn, row, { ...change, head: missing });
    return undefined;
  }
  removePassed(turn, row, change);
  keepRound(turn, row, change);
  if (leasing !== undefined && change.leasable !== "nothing") return leaseRun(turn, row, change, leasing);
  writeRow(turn, row, change);
  return undefined;
}

/** Writes attempts, a dead letter or a cancelled delivery; returns the sequence of an ended delivery that is not there. */
function record(turn: OutboxTurn, row: LaneRow, change: LaneChange): bigint | undefined {
  const { dead, cancelled, tried } = change;
  const ended = dead ?? cancelled;
  if (tried.length === 0 && ended === undefined) return undefined;
  const deliveries = deliveriesOf(turn, row, [...tried, ...(ended ? [ended] : [])]);
  for (const attempt of tried) {
    const delivery = deliveries.get(attempt.sequence);
    if (delivery !== undefined) insertAttempt(turn.client, delivery, attempt);
  }
  if (ended === undefined) return undefined;
  const delivery = deliveries.get(ended.sequence);
  if (delivery === undefined) return ended.sequence;
  const { consumer } = row;
  if (dead !== undefined) insertDead(turn, { ...delivery, consumer }, dead);
  else if (cancelled !== undefined) insertCancelled(turn, { ...delivery, consumer }, cancelled.because);
  return undefined;
}

/** A delivery of a lane as records name it: lane 0 for one without a lane, whose id is its sequence then. */
interface RecordedDelivery {
  readonly lane: bigint;
  readonly seq: bigint;
  readonly event: bigint;
  readonly round: number;
}

/** Deliveries of a lane by their sequences. The row knows its head; others are read. */
function deliveriesOf(
  { client }: OutboxTurn,
  { id, headEvent: event, lane: { kind, head, round } }: LaneRow,
  wanted: readonly { readonly sequence: bigint }[],
): ReadonlyMap<bigint, RecordedDelivery> {
  const found = new Map<bigint, RecordedDelivery>();
  const place = kind === "lane" ? { lane: id, seq: head } : { lane: 0n, seq: id };
  if (event !== undefined) found.set(head, { ...place, event, round });
  const last = wanted.reduce((most, { sequence }) => (sequence > most ? sequence : most), head);
  if (last === head) return found;
  const rows = client.allWide(
    "select seq, event, round from posthorn_delivery where lane = ? and seq > ? and seq <= ?",
    id,
    head,
    last,
  ) as { seq: bigint; event: bigint; round: bigint }[];
  for (const each of rows) found.set(each.seq, { ...each, lane: id, round: Number(each.round) });
  return found;
}

function removePassed({ client }: OutboxTurn, { id, lane }: LaneRow, { head }: LaneChange): void {
  if (lane.kind === "loose" || head === lane.head) return;
  client.run("delete from posthorn_delivery where lane = ? and seq >= ? and seq < ?", id, lane.head, head);
}

/** A redrive begins the next round of the head; a loose delivery has its round in its own row. */
function keepRound({ client }: OutboxTurn, { id, lane }: LaneRow, { head, round }: LaneChange): void {
  if (lane.kind === "loose" || head !== lane.head || round === lane.round) return;
  client.run("update posthorn_delivery set round = ? where lane = ? and seq = ?", round, id, head);
}

function leaseRun(
  turn: OutboxTurn,
  row: LaneRow,
  change: LaneChange,
  { consumer, terms }: Leasing,
): Claim | undefined {
  const [head, ...rest] = readRun(turn, row, change, terms.run);
  if (head === undefined) {
    leaveBroken(turn, row, change, consumer.dead);
    return undefined;
  }
  const {
    id,
    name: lane,
    lane: { kind },
  } = row;
  const { worker, leaseMs } = terms;
  writeRow(turn, row, change, { worker, leaseMs, run: 1 + rest.length });
  const ofWhom = { id: consumer.id, version: consumer.version };
  return leased({ kind, id, consumer: ofWhom, lane }, change, [head, ...rest]);
}

/** The head cannot be read: somebody has changed the tables by hand. That is a loud fault of this delivery, and no other lane waits for it. */
function leaveBroken(turn: OutboxTurn, row: LaneRow, change: LaneChange, dead: Consumer["dead"]): void {
  // Another was the head before: the next claim finds this one.
  if (change.head !== row.lane.head) return writeRow(turn, row, change);
  if (row.headEvent === undefined) return stopBroken(turn, row, change);
  const ended = withoutEvent(row.lane, change, dead);
  // The attempts of the change were recorded before.
  record(turn, row, { ...ended, tried: [] });
  removePassed(turn, row, ended);
  writeRow(turn, row, ended);
  const { kind } = row.lane;
  const id = deliveryIdOf(
    kind === "lane" ? { kind, lane: row.id, sequence: change.head } : { kind, id: row.id },
  );
  turn.notify({
    kind: "store_failed",
    operation: "claim",
    code: "store_unavailable",
    message: `The event of ${id} is not in posthorn_event: the delivery is dead (event_missing).`,
  });
}

/** A head without its delivery: somebody has changed the tables by hand. The lane stops, so that the others do not. */
function stopBroken(turn: OutboxTurn, row: LaneRow, change: LaneChange): void {
  removePassed(turn, row, change);
  const blocked = row.blockedAt === undefined || change.blocked === "clear" ? "now" : change.blocked;
  writeRow(turn, row, { ...change, state: "halted", readyAfterMs: undefined, blocked });
  turn.notify({
    kind: "store_failed",
    operation: "claim",
    code: "store_unavailable",
    message: `Lane ${row.id} was halted: its head, sequence ${change.head}, is not in posthorn_delivery. Skip it to go on.`,
  });
}

/** A lease that is written with a change. */
interface NewLease {
  readonly worker: string;
  readonly leaseMs: number;
  /** How many deliveries are leased together. */
  readonly run: number;
}

/** Writes what became of a lane. `next_seq` is left alone: only places.ts gives sequences away. */
function writeRow(turn: OutboxTurn, row: LaneRow, change: LaneChange, lease?: NewLease): void {
  if (row.lane.kind === "lane") return writeLane(turn, row, { change, lease });
  // Delivered or cancelled: a loose delivery has no place behind its first one.
  if (change.head > 0n) turn.client.run("delete from posthorn_loose_delivery where id = ?", row.id);
  else writeLoose(turn, row, { change, lease });
}

interface Writing {
  readonly change: LaneChange;
  readonly lease: NewLease | undefined;
}

function writeLane(turn: OutboxTurn, { id, blockedAt }: LaneRow, { change, lease }: Writing): void {
  turn.client.run(
    `update posthorn_lane set head_seq = ?, last_seq = ?, state = ?, suspect_until = ?, intent = ?, blocked_at = ?,
       run_len = ?, epoch = ?, ready_at = ?, leased_by = ?, leased_at = ?, leased_until = ?, attempts = ?, failures = ?,
       lapses = ?
     where id = ?`,
    change.head,
    change.last ?? null,
    change.state,
    change.suspectUntil ?? null,
    change.skipIntended ? "skip" : null,
    blockedAtOf(change, blockedAt, turn.nowMs),
    lease?.run ?? 0,
    ...leaseAndCounts(change, lease, turn.nowMs),
    id,
  );
}

function writeLoose(turn: OutboxTurn, { id }: LaneRow, { change, lease }: Writing): void {
  turn.client.run(
    `update posthorn_loose_delivery set round = ?, epoch = ?, ready_at = ?, leased_by = ?, leased_at = ?,
       leased_until = ?, attempts = ?, failures = ?, lapses = ?
     where id = ?`,
    change.round,
    ...leaseAndCounts(change, lease, turn.nowMs),
    id,
  );
}

/** Epoch, ready time, lease and counts, in the order in which both updates name them. */
function leaseAndCounts(change: LaneChange, lease: NewLease | undefined, nowMs: number): SqliteValue[] {
  const counts = [change.attempts, change.failures, change.lapses];
  if (lease === undefined) {
    const { readyAfterMs } = change;
    const readyAt = readyAfterMs === undefined ? null : nowMs + Math.ceil(readyAfterMs);
    return [change.epoch, readyAt, null, null, null, ...counts];
  }
  const until = nowMs + Math.ceil(lease.leaseMs);
  return [change.epoch + 1n, until, lease.worker, nowMs, until, ...counts];
}

function blockedAtOf({ blocked }: LaneChange, before: number | undefined, nowMs: number): number | null {
  switch (blocked) {
    case "keep":
      return before ?? null;
    case "now":
      return nowMs;
    case "clear":
      return null;
  }
}
