import { reach } from "#faults";
import type { Claim, ClaimAnswer, ClaimRequest } from "../../../lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import { waitingEndpoints } from "./due-endpoints.js";
import { buryHead, cancelHead, noteLapse } from "./lane-head.js";
import { dueLanes, lapsedLanes, saveLane } from "./lane.js";
import type { Lane } from "./lane.js";
import { buryLoose, dueLoose, lapsedLoose, leaseLoose, Loose, noteLooseLapse, saveLoose } from "./loose.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { leaseLane } from "./run.js";

/** Where the next claim goes on, so that no endpoint is always the last. */
export interface Cursor {
  endpoint: bigint;
}

/** An endpoint that may get something. */
interface Candidate {
  readonly number: bigint;
  readonly endpoint: Endpoint;
  room: number;
}

/** More of them than one process can have caused at once; the rest is looked at by the next claim. */
const LAPSED_PER_CLAIM = 20;

/** What a claim has come to so far. */
interface Taking {
  readonly request: ClaimRequest;
  readonly claims: Claim[];
  lapsed: boolean;
}

/** Leases what is due. */
export function claimDue(turn: OutboxTurn, request: ClaimRequest, cursor: Cursor): ClaimAnswer {
  reach("claim.before_lease");
  const waiting = endLapsed(turn);
  const taking: Taking = { request, claims: [], lapsed: !request.alone && waiting.length > 0 };
  if (request.alone) claimAlone(turn, taking, waiting);
  else claimShares(turn, taking, cursor);
  reach("claim.after_lease");
  return { claims: taking.claims, lapsed: taking.lapsed };
}

/** Whether a claim would find anything; read without the write lock, so that idle workers keep nobody waiting. */
export function isAnyDue(turn: OutboxTurn): boolean {
  for (const { endpoint, readyAt } of waitingEndpoints(turn.client, 0n)) {
    if (readyAt <= turn.nowMs && turn.activeEndpoint(endpoint) !== undefined) return true;
  }
  return false;
}

/** Gives up what has lapsed while it ran alone, and returns what waits to run so. */
function endLapsed(turn: OutboxTurn): (Lane | Loose)[] {
  const { client, nowMs } = turn;
  const found = [
    ...lapsedLanes(client, nowMs, LAPSED_PER_CLAIM),
    ...lapsedLoose(client, nowMs, LAPSED_PER_CLAIM),
  ];
  return found.filter((each) => {
    const endpoint = turn.activeEndpoint(each.endpoint);
    if (endpoint === undefined || each.leasedBy === null) return endpoint !== undefined;
    endLapsedAlone(turn, each, endpoint);
    return false;
  });
}

function endLapsedAlone(turn: OutboxTurn, each: Lane | Loose, endpoint: Endpoint): void {
  const because = "lease_expired";
  if (each instanceof Loose) {
    noteLooseLapse(turn, each);
    buryLoose(turn, each, because);
    return saveLoose(turn.client, each);
  }
  noteLapse(turn, each);
  // A person has already decided what becomes of it.
  if (each.intent === "skip") cancelHead(turn, each, "skipped");
  else buryHead(turn, each, { because, policy: endpoint.dead ?? "halt" });
  saveLane(turn.client, each);
}

function claimAlone(turn: OutboxTurn, taking: Taking, waiting: readonly (Lane | Loose)[]): void {
  for (const each of waiting) {
    const endpoint = turn.activeEndpoint(each.endpoint);
    if (taking.claims.length < taking.request.limit && endpoint !== undefined) {
      take(turn, each, { endpoint, taking });
    }
  }
}

/** Deals the limit out evenly, round after round, until it is used up or nothing more is due. */
function claimShares(turn: OutboxTurn, taking: Taking, cursor: Cursor): void {
  const { claims, request } = taking;
  let candidates = dueCandidates(turn, request, cursor);
  while (candidates.length > 0 && claims.length < request.limit) {
    const share = Math.max(1, Math.floor((request.limit - claims.length) / candidates.length));
    candidates = candidates.filter((candidate) => {
      const wanted = Math.min(share, candidate.room, request.limit - claims.length);
      if (wanted > 0) cursor.endpoint = candidate.number;
      return wanted > 0 && takeFrom(turn, candidate, { wanted, taking }) && candidate.room > 0;
    });
  }
}

function dueCandidates(turn: OutboxTurn, request: ClaimRequest, cursor: Cursor): Candidate[] {
  const candidates: Candidate[] = [];
  if (request.limit <= 0) return candidates;
  for (const { endpoint: number, readyAt } of waitingEndpoints(turn.client, cursor.endpoint)) {
    const endpoint = turn.activeEndpoint(number);
    if (endpoint === undefined || readyAt > turn.nowMs) continue;
    const room = endpoint.maxInFlight - (request.inFlight.get(endpoint.id) ?? 0);
    if (room > 0) candidates.push({ number, endpoint, room });
    if (candidates.length === request.limit) break;
  }
  return candidates;
}

/** Takes the longest waiting of one endpoint, lanes and loose deliveries alike; true when there may be more. */
function takeFrom(
  turn: OutboxTurn,
  candidate: Candidate,
  { wanted, taking }: { readonly wanted: number; readonly taking: Taking },
): boolean {
  const { number, endpoint } = candidate;
  const which = { endpoint: number, nowMs: turn.nowMs, limit: wanted };
  const lanes = dueLanes(turn.client, which);
  const loose = dueLoose(turn.client, which);
  const found = loose.length === 0 ? lanes : [...lanes, ...loose].toSorted(byReadyAt).slice(0, wanted);
  const before = taking.claims.length;
  for (const each of found) take(turn, each, { endpoint, taking });
  candidate.room -= taking.claims.length - before;
  return found.length === wanted;
}

function byReadyAt(left: Lane | Loose, right: Lane | Loose): number {
  return (left.readyAt ?? 0) - (right.readyAt ?? 0);
}

function take(
  turn: OutboxTurn,
  each: Lane | Loose,
  { endpoint, taking }: { readonly endpoint: Endpoint; readonly taking: Taking },
): void {
  const isLoose = each instanceof Loose;
  if (each.leasedBy !== null) {
    if (isLoose) noteLooseLapse(turn, each);
    else noteLapse(turn, each);
  }
  if (!isLoose && each.intent === "skip") cancelHead(turn, each, "skipped");
  // It has just lapsed once too often: from now on it is claimed alone.
  const waits = each.lapses >= LAPSES_BEFORE_ALONE && !taking.request.alone;
  if (waits) taking.lapsed = true;
  const terms = { endpoint, terms: taking.request };
  const mayRun = !waits && (isLoose || each.flows);
  const claim = mayRun ? (isLoose ? leaseLoose(turn, each, terms) : leaseLane(turn, each, terms)) : undefined;
  if (claim !== undefined) taking.claims.push(claim);
  else if (isLoose) saveLoose(turn.client, each);
  else saveLane(turn.client, each);
}
