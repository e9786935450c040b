import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { DeadBecause } from "../../../lanes/dead.js";
import type { Claim, ClaimedDelivery, Settlement } from "../../../lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import type { LockedRow } from "./locked-rows.js";

// What becomes of a lane is decided here, on the row that is locked; the statements only write it.

export interface LaneChange {
  readonly row: LockedRow;
  state: "flowing" | "halted" | "parked";
  epoch: bigint;
  head: bigint;
  last: bigint | undefined;
  attempts: number;
  failures: number;
  lapses: number;
  suspectUntil: bigint | undefined;
  skipIntended: boolean;
  /** When its head is due, from now on; undefined when it is not, because it is dead or there is none. */
  readyAfterMs: number | undefined;
  /** Whether it counts as blocked, and since when: as before, from now on unless it was, or not at all. */
  blocked: "keep" | "now" | "clear";
  /** The deliveries that are leased with it; none where it is given back. */
  lease: readonly [ClaimedDelivery, ...ClaimedDelivery[]] | undefined;
  dead: DeadHead | undefined;
  cancelled: "expired" | "skipped" | undefined;
  /** Why its endpoint is to be disabled. */
  disabled: string | undefined;
  readonly tried: AttemptRecord[];
}

/** A delivery that is given up. */
export interface DeadHead {
  readonly because: DeadBecause;
  readonly attempts: number;
  readonly last: Pick<AttemptRecord, "status" | "error"> | undefined;
}

/** As it is, its lease ended. */
export function unleased(row: LockedRow): LaneChange {
  const { epoch, head, last, attempts, failures, lapses, suspectUntil, skipIntended } = row;
  return {
    row,
    state: "flowing",
    epoch,
    head,
    last,
    attempts,
    failures,
    lapses,
    suspectUntil,
    skipIntended,
    readyAfterMs: 0,
    blocked: "keep",
    lease: undefined,
    dead: undefined,
    cancelled: undefined,
    disabled: undefined,
    tried: [],
  };
}

/** How many deliveries a settlement takes from the head, as far as the worker knows. */
export function advanceOf({ acknowledged, rest: then }: Settlement): number {
  const passes = then?.state === "cancelled" || (then?.state === "dead" && then.policy === "skip");
  return acknowledged + (passes ? 1 : 0);
}

/** What a settlement makes of a lane. `next`: whether its next run may be leased. */
export function settledChange(
  row: LockedRow,
  { acknowledged, attempts, rest: then }: Settlement,
  next: boolean,
): LaneChange {
  const change = unleased(row);
  change.tried.push(...attempts);
  for (let n = 0; n < acknowledged; n++) {
    change.last = change.head;
    passHead(change);
  }
  if (change.head < row.end) settleHead(change, then);
  rest(change);
  // One that has lapsed often is claimed alone, never handed on.
  if (next && row.kind === "lane" && change.readyAfterMs === 0 && isFree(change)) leaseRun(change);
  return change;
}

function isFree({ row, disabled, lapses }: LaneChange): boolean {
  return row.endpoint.state === "active" && disabled === undefined && lapses < LAPSES_BEFORE_ALONE;
}

/** Settles the first delivery that was not acknowledged. */
function settleHead(change: LaneChange, then: Settlement["rest"]): void {
  const ofHead = change.tried.filter(({ sequence }) => sequence === change.head);
  change.attempts += ofHead.length;
  if (ofHead.length > 0) change.blocked = "now";
  if (then?.state === "disabled") change.disabled = then.because;
  // An operator wanted it passed over unless it succeeds, and it did not.
  if (change.skipIntended) return cancelHead(change, "skipped");
  switch (then?.state) {
    case "due":
      if (then.counts) change.failures += 1;
      change.readyAfterMs = then.afterMs;
      break;
    case "dead":
      // The last failure too: an operator would be shown one attempt fewer than were made.
      if (ofHead.length > 0) change.failures += 1;
      killHead(
        change,
        { because: then.because, attempts: change.attempts, last: ofHead.at(-1) },
        then.policy,
      );
      break;
    case "cancelled":
      cancelHead(change, then.because);
      break;
    case "disabled":
    case undefined:
      break;
  }
}

/** What a claim makes of a lane whose turn it is. Leased, unless it has lapsed too often or stands still now. */
export function claimedChange(row: LockedRow, alone: boolean): LaneChange {
  const change = unleased(row);
  if (row.leasedUntilMs !== undefined) endLapsed(change, row.leasedUntilMs);
  // Its worker gave it back before it knew.
  else if (row.skipIntended) cancelHead(change, "skipped");
  rest(change);
  const isDue = change.readyAfterMs !== undefined && change.head === row.head;
  if (isDue && change.lapses >= LAPSES_BEFORE_ALONE === alone) leaseRun(change);
  return change;
}

/** Its process died or was too slow; nobody knows what came of it. */
function endLapsed(change: LaneChange, leasedUntilMs: number): void {
  const { row } = change;
  const wasAlone = row.lapses >= LAPSES_BEFORE_ALONE;
  if (row.runLength > 1) {
    // Which of them killed the process is not known: none is charged, and up to here each goes by itself.
    change.suspectUntil = row.head + BigInt(row.runLength);
  } else {
    chargeLapse(change, leasedUntilMs);
  }
  if (change.skipIntended) return cancelHead(change, "skipped");
  if (!wasAlone) return;
  const { dead = row.kind === "lane" ? "halt" : "skip" } = row.endpoint;
  killHead(change, { because: "lease_expired", attempts: change.attempts, last: undefined }, dead);
}

// No failure: a crash must not spend the retry budget of an innocent event.
function chargeLapse(change: LaneChange, leasedUntilMs: number): void {
  const { row } = change;
  change.lapses += 1;
  change.attempts += 1;
  change.blocked = "now";
  change.tried.push({
    sequence: row.head,
    round: row.run[0]?.round ?? 1,
    number: change.attempts,
    startedAt: new Date(leasedUntilMs),
    durationMs: 0,
    outcome: "lapsed",
    status: undefined,
    error: undefined,
    answer: undefined,
  });
}

/** Passes over the head at an operator's word. A dead one stays a dead letter. */
export function skippedChange(row: LockedRow, headIsDead: boolean): LaneChange {
  const change = unleased(row);
  if (headIsDead) passHead(change);
  else cancelHead(change, "skipped");
  rest(change);
  return change;
}

/** The dead head is due again, in its place. */
export function revivedChange(row: LockedRow): LaneChange {
  const change = unleased(row);
  startAgain(change);
  rest(change);
  return change;
}

function killHead(change: LaneChange, dead: DeadHead, policy: DeadPolicy): void {
  change.dead = dead;
  change.blocked = "now";
  // A loose delivery stands in nobody's way: it stays where it is, whatever the policy.
  if (change.row.kind === "loose" || policy === "halt") change.state = "halted";
  else if (policy === "park") change.state = "parked";
  else passHead(change);
}

function cancelHead(change: LaneChange, because: "expired" | "skipped"): void {
  change.cancelled = because;
  passHead(change);
}

/** The next one becomes the head, with nothing of what the last one went through. */
function passHead(change: LaneChange): void {
  change.head += 1n;
  change.state = "flowing";
  startAgain(change);
}

function startAgain(change: LaneChange): void {
  change.attempts = 0;
  change.failures = 0;
  change.lapses = 0;
  change.skipIntended = false;
  change.blocked = "clear";
}

function rest(change: LaneChange): void {
  if (change.state !== "flowing" || change.head >= change.row.end) change.readyAfterMs = undefined;
}

/** Leases as much of the lane as was read from its head on; nothing where that was not read, and a claim will find it. */
function leaseRun(change: LaneChange): void {
  const [first, ...others] = change.row.run;
  if (first?.sequence !== change.head) return;
  change.lease = [first, ...others];
  change.epoch += 1n;
}

/** What a worker gets of a lane that is leased. */
export function claimOf({ row, epoch, last, attempts, failures, lease }: LaneChange): Claim | undefined {
  if (lease === undefined) return undefined;
  const { kind, id, endpoint, lane } = row;
  return {
    kind,
    id,
    epoch,
    consumer: { id: endpoint.id, version: endpoint.version },
    lane,
    after: last,
    run: lease,
    attempts,
    failures,
  };
}
