import type { InboxOutcome } from "../../library/src/inbox/inbox-store.js";
import { LANE_RULE } from "../../library/src/lanes/lane-rule.js";
import type { LaneRule } from "../../library/src/lanes/lane-rule.js";
import type { SequenceReport } from "../../library/src/lanes/lane-store.js";
import type { Endpoint } from "../../library/src/outbox/endpoint.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import type { InboxLine, StageRow } from "./rows.js";

/**
 * The decisions of a store, one by one. The right ones are here; a planted bug is a table in which one of them is
 * wrong, and the simulator has to find it.
 */
export interface ModelRules {
  /** What becomes of a lane: the shipped rule. */
  lane: LaneRule;
  leaseEnd(now: number, leaseMs: number): number;
  isActive(endpoint: Endpoint | undefined): boolean;
  expiresInMs(expiresAtMs: number, nowMs: number): number | undefined;
  /** Whether a worker's release gives a lane back. */
  frees(isHeld: boolean): boolean;
  forgetsDeadAtRedrive: boolean;
  /** The round of a dead delivery that is put at the end of its lane. */
  redrivenRound(round: number): number;
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
  lane: LANE_RULE,
  leaseEnd: (now, leaseMs) => now + leaseMs,
  isActive: (endpoint) => endpoint?.state === "active",
  expiresInMs: (expiresAtMs, nowMs) => expiresAtMs - nowMs,
  frees: (isHeld) => !isHeld,
  forgetsDeadAtRedrive: true,
  redrivenRound: (round) => round + 1,
  inOrder: (stage) => stage.toSorted((a, b) => Number(a.event.rowId - b.event.rowId)),
  isSeen: () => true,
  takesOffStage: () => true,
  remembersIds: true,
  waitsForCommit: true,
  placesLater: true,
  isLater: ({ deliverAt }, nowMs) => deliverAt !== undefined && deliverAt.getTime() > nowMs,
  locks: true,
  marksAt: "commit",
  isKnown: (outcome) => outcome === "success",
  keepUntil: ({ windowS }, nowMs) => (windowS === undefined ? undefined : nowMs + windowS * 1000),
});
