import { reach } from "#faults";
import type { NextState, Settled, Settlement } from "../../../lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import { insertAttempt } from "../operator/attempts.js";
import { insertCancelled } from "./record-ended.js";
import { buryHead, cancelHead, readHead } from "./lane-head.js";
import { readLane, saveLane } from "./lane.js";
import type { Lane } from "./lane.js";
import { buryLoose, readLoose, removeLoose, saveLoose } from "./loose.js";
import type { Loose } from "./loose.js";
import { disableEndpoint } from "../outbox/endpoints.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { leaseLane } from "./run.js";
import type { LeaseTerms } from "./run.js";

const STALE: Settled = Object.freeze({ kind: "stale" });
const NOTHING: ReadonlyMap<bigint, bigint> = new Map();
const SETTLED: Settled = Object.freeze({ kind: "settled", next: undefined });

/** Writes what came of claims, each with its attempts, and leases the next heads. */
export function settleClaims(
  turn: OutboxTurn,
  settlements: readonly Settlement[],
  terms: LeaseTerms,
): Settled[] {
  reach("settle.before_record");
  const settled = settlements.map((settlement) =>
    settlement.claim.kind === "lane" ? settleLane(turn, settlement, terms) : settleLoose(turn, settlement),
  );
  reach("settle.after_record");
  return settled;
}

function settleLane(turn: OutboxTurn, settlement: Settlement, terms: LeaseTerms): Settled {
  const { claim, rest, next } = settlement;
  const lane = readLane(turn.client, claim.id);
  // Without a lease it has been settled before: applying it twice would count its attempts twice.
  if (lane === undefined || lane.leasedBy === null || lane.epoch !== claim.epoch) return STALE;
  if (lane.headSeq !== claim.run[0].sequence) return STALE;
  const tried = recordLane(turn, lane, settlement);
  if (lane.isEmpty || rest === undefined) lane.arm(turn.nowMs);
  else applyToHead(turn, lane, { rest, tried });
  if (lane.intent === "skip" && !lane.isEmpty) cancelHead(turn, lane, "skipped");
  const endpoint = next && lane.flows && isDue(lane, turn) ? turn.activeEndpoint(lane.endpoint) : undefined;
  if (endpoint !== undefined) return { kind: "settled", next: leaseLane(turn, lane, { endpoint, terms }) };
  saveLane(turn.client, lane);
  return SETTLED;
}

// One that must run alone is not handed to a worker that has others under way.
function isDue({ readyAt, lapses }: Lane, { nowMs }: OutboxTurn): boolean {
  return readyAt !== null && readyAt <= nowMs && lapses < LAPSES_BEFORE_ALONE;
}

/** Writes the attempts and takes what was acknowledged out of the lane; says how many were made of the head that is left. */
function recordLane(turn: OutboxTurn, lane: Lane, { attempts, acknowledged }: Settlement): number {
  const { client } = turn;
  const events = takeAcknowledged(turn, lane, acknowledged);
  let tried = 0;
  for (const attempt of attempts) {
    let event = events.get(attempt.sequence);
    if (attempt.sequence === lane.headSeq) {
      tried++;
      event = readHead(turn, lane)?.event;
    }
    if (event === undefined) continue;
    insertAttempt(client, { lane: lane.id, seq: attempt.sequence, event }, attempt);
  }
  return tried;
}

function takeAcknowledged(turn: OutboxTurn, lane: Lane, count: number): ReadonlyMap<bigint, bigint> {
  if (count === 0) return NOTHING;
  const events = count === 1 ? removeOne(turn, lane) : removeRun(turn, lane, count);
  lane.advance(count);
  lane.lastSeq = lane.headSeq - 1n;
  return events;
}

// Apart from a run, because most claims are of one delivery, and this takes two thirds of the time.
function removeOne({ client }: OutboxTurn, { id, headSeq }: Lane): ReadonlyMap<bigint, bigint> {
  const row = client.getWide(
    "delete from posthorn_delivery where lane = ? and seq = ? returning event",
    id,
    headSeq,
  ) as { event: bigint } | undefined;
  return row === undefined ? NOTHING : new Map([[headSeq, row.event]]);
}

function removeRun(
  { client }: OutboxTurn,
  { id, headSeq }: Lane,
  count: number,
): ReadonlyMap<bigint, bigint> {
  const rows = client.allWide(
    "delete from posthorn_delivery where lane = ? and seq >= ? and seq < ? returning seq, event",
    id,
    headSeq,
    headSeq + BigInt(count),
  ) as { seq: bigint; event: bigint }[];
  return new Map(rows.map(({ seq, event }) => [seq, event]));
}

function applyToHead(
  turn: OutboxTurn,
  lane: Lane,
  { rest, tried }: { readonly rest: NextState; readonly tried: number },
): void {
  lane.attempts += tried;
  if (tried > 0) lane.blockedAt ??= turn.nowMs;
  // A person has passed over it meanwhile; whatever else would become of it, its lane goes on.
  if (lane.intent === "skip" && rest.state !== "disabled") return;
  switch (rest.state) {
    case "due":
      lane.failures += rest.counts ? 1 : 0;
      return lane.arm(turn.nowMs + Math.ceil(rest.afterMs));
    case "dead":
      // The last failure too: an operator would be shown one attempt fewer than were made.
      lane.failures += tried > 0 ? 1 : 0;
      return buryHead(turn, lane, rest);
    case "cancelled":
      return cancelHead(turn, lane, rest.because);
    case "disabled":
      disableEndpoint(turn, lane.endpoint, rest.because);
      return lane.arm(turn.nowMs);
  }
}

function settleLoose(turn: OutboxTurn, { claim, attempts, acknowledged, rest }: Settlement): Settled {
  const { client } = turn;
  const loose = readLoose(client, claim.id);
  if (loose === undefined || loose.leasedBy === null || loose.epoch !== claim.epoch) return STALE;
  const place = { lane: 0n, seq: loose.id, event: loose.event };
  for (const attempt of attempts) insertAttempt(client, place, attempt);
  if (acknowledged > 0) {
    removeLoose(client, loose.id);
    return SETTLED;
  }
  loose.attempts += attempts.length;
  if (rest?.state === "dead" && attempts.length > 0) loose.failures++;
  if (rest?.state === "cancelled") {
    insertCancelled(turn, loose.ended, rest.because);
    removeLoose(client, loose.id);
    return SETTLED;
  }
  applyToLoose(turn, loose, rest);
  saveLoose(client, loose);
  return SETTLED;
}

function applyToLoose(
  turn: OutboxTurn,
  loose: Loose,
  rest: Exclude<NextState, { readonly state: "cancelled" }> | undefined,
): void {
  switch (rest?.state) {
    case undefined:
      return loose.arm(turn.nowMs);
    case "due":
      loose.failures += rest.counts ? 1 : 0;
      return loose.arm(turn.nowMs + Math.ceil(rest.afterMs));
    case "dead":
      return buryLoose(turn, loose, rest.because);
    case "disabled":
      disableEndpoint(turn, loose.endpoint, rest.because);
      return loose.arm(turn.nowMs);
  }
}
