import type { Claim, SequenceReport } from "../library/src/lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../library/src/lanes/lane.js";
import type { InboxOutcome } from "../library/src/inbox/inbox-store.js";
import type { Endpoint } from "../library/src/outbox/endpoint.js";
import type { OutgoingEvent } from "../library/src/outbox/outgoing-event.js";
import type { InboxLine, LaneRow, StageRow } from "./model-rows.js";

/**
 * The decisions of a store, one by one. The right ones are here; a planted bug is a table in which one of them is
 * wrong, and the simulator has to find it.
 */
export interface ModelRules {
  /** Whether a settlement is that of the claim that counts. */
  isCurrent(lane: LaneRow, claim: Pick<Claim, "epoch">): boolean;
  nextEpoch(lane: LaneRow): bigint;
  leaseEnd(now: number, leaseMs: number): number;
  isActive(endpoint: Endpoint | undefined): boolean;
  /** Whether the head is handed out together with those behind it. */
  mayRun(lane: LaneRow, lastWasSettled: boolean): boolean;
  runsAlone(lane: LaneRow): boolean;
  /** Whether a delivery that comes to an empty lane makes it due. */
  arms(lane: LaneRow): boolean;
  expiresInMs(expiresAtMs: number, nowMs: number): number | undefined;
  lapseSpendsFailure: boolean;
  /** Lapses at which a delivery is given up. */
  fatalLapses: number;
  keepsAttempts: boolean;
  acknowledges(acknowledged: number, run: number): number;
  dueAt(now: number, afterMs: number): number;
  /** Whether a delivery that failed stays where it is until it is tried again. */
  failedStaysHead: boolean;
  recordsDead: boolean;
  recordsCancelled: boolean;
  stopsAtDead: boolean;
  /** Whether a skip of this head is one of the lane as it stands. */
  isMeant(lane: LaneRow, head: bigint): boolean;
  appliesIntent: boolean;
  frees(lane: LaneRow, isHeld: boolean): boolean;
  forgetsDeadAtRedrive: boolean;
  redrivenRound(round: number): number;
  disabledKeepsHead: boolean;
  /** The stage in the order in which it is sequenced. */
  inOrder(stage: readonly StageRow[]): StageRow[];
  /** Whether the sequencer looks at a row. */
  isSeen(row: StageRow, sequencedTo: bigint): boolean;
  takesOffStage(report: SequenceReport): boolean;
  remembersIds: boolean;
  /** Whether what is published in a transaction waits for its commit. */
  waitsForCommit: boolean;
  placesLater: boolean;
  isLater(event: OutgoingEvent, nowMs: number): boolean;
  /** Whether an event that is being applied is busy for others. */
  locks: boolean;
  /** When the row of an event that is being applied is written. */
  marksAt: "commit" | "begin";
  isKnown(outcome: InboxOutcome): boolean;
  keepUntil(line: Pick<InboxLine, "windowS">, nowMs: number): number | undefined;
}

export const RIGHT_RULES: ModelRules = Object.freeze<ModelRules>({
  isCurrent: (lane, claim) => lane.lease !== undefined && lane.epoch === claim.epoch,
  nextEpoch: (lane) => lane.epoch + 1n,
  leaseEnd: (now, leaseMs) => now + leaseMs,
  isActive: (endpoint) => endpoint?.state === "active",
  mayRun: (lane, lastWasSettled) => lastWasSettled && lane.attempts === 0 && lane.head >= lane.suspectUntil,
  runsAlone: ({ lapses }) => lapses >= LAPSES_BEFORE_ALONE,
  arms: () => true,
  expiresInMs: (expiresAtMs, nowMs) => expiresAtMs - nowMs,
  lapseSpendsFailure: false,
  fatalLapses: LAPSES_BEFORE_ALONE + 1,
  keepsAttempts: true,
  acknowledges: (acknowledged) => acknowledged,
  dueAt: (now, afterMs) => now + afterMs,
  failedStaysHead: true,
  recordsDead: true,
  recordsCancelled: true,
  stopsAtDead: true,
  isMeant: (lane, head) => lane.head === head,
  appliesIntent: true,
  frees: (_lane, isHeld) => !isHeld,
  forgetsDeadAtRedrive: true,
  redrivenRound: (round) => round + 1,
  disabledKeepsHead: true,
  inOrder: (stage) => stage.toSorted((a, b) => Number(a.event.rowId - b.event.rowId)),
  isSeen: () => true,
  takesOffStage: () => true,
  remembersIds: true,
  waitsForCommit: true,
  placesLater: true,
  isLater: ({ deliverAt }, nowMs) => deliverAt !== undefined && deliverAt.getTime() > nowMs,
  locks: true,
  marksAt: "commit",
  isKnown: (outcome) => outcome !== "failed",
  keepUntil: ({ windowS }, nowMs) => (windowS === undefined ? undefined : nowMs + windowS * 1000),
});
