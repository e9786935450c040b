import { reach } from "#faults";
import { isClaimable, roomOf } from "../../../lanes/lane-store.js";
import type { Claim, Claimable, ClaimAnswer, ClaimRequest } from "../../../lanes/lane-store.js";
import { claimed, runsAlone } from "../../../lanes/lane.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { changeLane } from "./lane-write.js";
import type { LaneRow } from "./lane-row.js";
import { dueRows, lapsedRows } from "./lane-row.js";
import { waitingConsumers } from "./until-due.js";

/** Where the next claim goes on, so that no consumer is always the last: brief claims have turns of their own. */
export interface Cursor {
  all: bigint;
  brief: bigint;
}

// How many one turn takes, so that it leaves the event loop free after a few milliseconds.
const CLAIMS_PER_TURN = 64;
// More than one process can have caused at once; the next claim looks at the rest.
const LAPSED_PER_CLAIM = 20;

/** Leases what is due, in as many turns as that takes. */
export async function claim(
  session: OutboxSession,
  request: ClaimRequest,
  cursor: Cursor,
): Promise<ClaimAnswer> {
  if (!(await session.lookAtDue((turn) => isAnyDue(turn, request)))) return { claims: [], lapsed: false };
  const some = (before: readonly Claim[]): Promise<ClaimAnswer> =>
    session.write((turn) => claimDue(turn, withRoom(request, before), cursor));
  const first = await some([]);
  const claims = [...first.claims];
  for (let last = first; last.claims.length === CLAIMS_PER_TURN && claims.length < request.limit;) {
    try {
      last = await some(claims);
    } catch {
      // What was claimed before is leased; thrown away, nobody would send it until its lease ends.
      break;
    }
    claims.push(...last.claims);
  }
  return { claims, lapsed: first.lapsed };
}

/** What is left of a request after the turns before. */
function withRoom(request: ClaimRequest, before: readonly Claim[]): ClaimRequest {
  const limit = Math.min(request.limit - before.length, request.alone ? 1 : CLAIMS_PER_TURN);
  const inFlight = new Map(request.inFlight);
  for (const { consumer } of before) inFlight.set(consumer.id, (inFlight.get(consumer.id) ?? 0) + 1);
  return { ...request, limit, inFlight };
}

/** Whether a claim would find anything; read without the write lock, so that idle workers keep nobody waiting. */
function isAnyDue(turn: OutboxTurn, { of, brief }: ClaimRequest): boolean {
  for (const { consumer, readyAt } of waitingConsumers(turn.client, 0n, brief)) {
    if (readyAt <= turn.nowMs && claimableConsumer(turn, consumer, of) !== undefined) return true;
  }
  return false;
}

/** The consumer of a number, where it is active and its lanes are the worker's to take. */
export function claimableConsumer(turn: OutboxTurn, number: bigint, of: Claimable): Consumer | undefined {
  const consumer = turn.activeConsumer(number);
  return consumer !== undefined && isClaimable(of, consumer) ? consumer : undefined;
}

/** What a claim has come to so far. */
interface Taking {
  readonly request: ClaimRequest;
  readonly claims: Claim[];
  lapsed: boolean;
}

function claimDue(turn: OutboxTurn, request: ClaimRequest, cursor: Cursor): ClaimAnswer {
  reach("claim.before_lease");
  const taking: Taking = { request, claims: [], lapsed: false };
  claimLapsed(turn, taking);
  if (!request.alone) claimShares(turn, taking, cursor);
  reach("claim.after_lease");
  return { claims: taking.claims, lapsed: taking.lapsed };
}

/** Ends what has lapsed while it ran alone; takes what waits to run alone where that is asked for, and says so where it is not. */
function claimLapsed(turn: OutboxTurn, taking: Taking): void {
  const { alone, limit, of } = taking.request;
  for (const row of lapsedRows(turn.client, { of, nowMs: turn.nowMs, limit: LAPSED_PER_CLAIM })) {
    const consumer = claimableConsumer(turn, row.consumer, of);
    if (consumer === undefined) continue;
    // Not leased again at once, though its next head may be due: that one takes its turn among the consumer's others.
    if (row.lane.lease !== undefined)
      changeLane(turn, row, claimed(row.lane, { alone, dead: consumer.dead }));
    else if (!alone) taking.lapsed = true;
    else if (taking.claims.length < limit) take(turn, row, { consumer, taking });
  }
}

/** A consumer that may get something. */
interface Candidate {
  readonly number: bigint;
  readonly consumer: Consumer;
  room: number;
}

/** Deals the limit out evenly, round after round, until it is used up or nothing more is due. */
function claimShares(turn: OutboxTurn, taking: Taking, cursor: Cursor): void {
  const { claims, request } = taking;
  let candidates = dueCandidates(turn, request, cursor);
  while (candidates.length > 0 && claims.length < request.limit) {
    const share = Math.max(1, Math.floor((request.limit - claims.length) / candidates.length));
    candidates = candidates.filter((candidate) => {
      const wanted = Math.min(share, candidate.room, request.limit - claims.length);
      if (wanted > 0) cursor[turnsOf(request)] = candidate.number;
      return wanted > 0 && takeFrom(turn, candidate, { wanted, taking }) && candidate.room > 0;
    });
  }
}

function turnsOf({ brief }: ClaimRequest): keyof Cursor {
  return brief ? "brief" : "all";
}

function dueCandidates(turn: OutboxTurn, request: ClaimRequest, cursor: Cursor): Candidate[] {
  const candidates: Candidate[] = [];
  if (request.limit <= 0) return candidates;
  const after = cursor[turnsOf(request)];
  for (const { consumer: number, readyAt } of waitingConsumers(turn.client, after, request.brief)) {
    const consumer = claimableConsumer(turn, number, request.of);
    if (consumer === undefined || readyAt > turn.nowMs) continue;
    const room = roomOf(consumer, request);
    if (room > 0) candidates.push({ number, consumer, room });
    if (candidates.length === request.limit) break;
  }
  return candidates;
}

/** Takes the longest waiting of one consumer, lanes and loose deliveries alike; true when there may be more. */
function takeFrom(
  turn: OutboxTurn,
  candidate: Candidate,
  { wanted, taking }: { readonly wanted: number; readonly taking: Taking },
): boolean {
  const { number, consumer } = candidate;
  const { brief } = taking.request;
  const rows = dueRows(turn.client, { consumer: number, nowMs: turn.nowMs, limit: wanted, brief });
  const before = taking.claims.length;
  for (const row of rows) take(turn, row, { consumer, taking });
  candidate.room -= taking.claims.length - before;
  return rows.length === wanted;
}

function take(
  turn: OutboxTurn,
  row: LaneRow,
  { consumer, taking }: { readonly consumer: Consumer; readonly taking: Taking },
): void {
  const { request, claims } = taking;
  const change = claimed(row.lane, { alone: request.alone, dead: consumer.dead });
  const taken = changeLane(turn, row, change, { consumer, terms: request });
  if (taken !== undefined) claims.push(taken);
  // It has just lapsed once too often: from now on it is claimed alone.
  else if (!request.alone && change.readyAfterMs === 0 && runsAlone(change)) taking.lapsed = true;
}
