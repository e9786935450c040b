import { ModelStore, RIGHT_RULES } from "posthorn/testing";
import type { Decisions, ModelRules, SimulateOptions } from "posthorn/testing";

/** A mistake of logic that somebody could make, and that the simulator must find. */
export interface PlantedBug {
  readonly name: string;
  readonly rules?: Partial<ModelRules>;
  readonly decisions?: Decisions;
}

const DAY_MS = 24 * 3600 * 1000;

export const PLANTED_BUGS: readonly PlantedBug[] = [
  // Leases.
  { name: "no fence: an old claim may settle", rules: { isCurrent: (lane) => lane.deliveries.length > 0 } },
  {
    name: "the epoch is used again after a lapse",
    rules: { nextEpoch: (lane) => (lane.lapses > 0 ? lane.epoch : lane.epoch + 1n) },
  },
  { name: "a lease ends before its time", rules: { leaseEnd: (now, leaseMs) => now + leaseMs / 20 } },
  { name: "release frees what is held", rules: { frees: () => true } },
  { name: "a paused endpoint is claimed", rules: { isActive: (endpoint) => endpoint?.state !== "disabled" } },
  { name: "a run is leased while one of it is suspect", rules: { mayRun: (lane) => lane.attempts === 0 } },
  {
    name: "what was tried before goes in a run",
    rules: { mayRun: (_lane, lastWasSettled) => lastWasSettled },
  },
  { name: "what kills processes runs beside others", rules: { runsAlone: () => false } },
  { name: "a lapse kills at once", rules: { fatalLapses: 1 } },
  // Counting.
  { name: "a lapse spends a failure", rules: { lapseSpendsFailure: true } },
  { name: "settled without its attempts", rules: { keepsAttempts: false } },
  { name: "a retry does not wait", rules: { dueAt: (now) => now } },
  // Order.
  { name: "a retry passes the head", rules: { failedStaysHead: false } },
  {
    name: "sequences against the order of commits",
    rules: { inOrder: (stage) => RIGHT_RULES.inOrder(stage).toReversed() },
  },
  { name: "sequences by a cursor", rules: { isSeen: ({ event }, sequencedTo) => event.rowId > sequencedTo } },
  { name: "sequences twice what one batch did not hold", rules: { takesOffStage: ({ more }) => !more } },
  { name: "a dead head does not stop its lane", rules: { stopsAtDead: false } },
  // Loss.
  {
    name: "a wake-up is lost: a lane that was empty is not armed",
    rules: { arms: (lane) => lane.epoch === 0n },
  },
  { name: "skipped without a record", rules: { recordsDead: false } },
  { name: "cancelled without a record", rules: { recordsCancelled: false } },
  {
    name: "all of a run is acknowledged with its first",
    rules: { acknowledges: (acknowledged, run) => (acknowledged > 0 ? run : 0) },
  },
  { name: "the head of a disabled endpoint is dropped", rules: { disabledKeepsHead: false } },
  { name: "what was to be delivered later is forgotten", rules: { placesLater: false } },
  { name: "an intended skip is forgotten", rules: { appliesIntent: false } },
  // Doubles.
  { name: "redriven twice, sent twice", rules: { forgetsDeadAtRedrive: false } },
  { name: "a redrive stays in its round", rules: { redrivenRound: (round) => round } },
  { name: "the same id is published twice", rules: { remembersIds: false } },
  { name: "expired, and sent", rules: { expiresInMs: () => undefined } },
  { name: "delivered before its time", rules: { isLater: () => false } },
  // Transactions.
  { name: "published outside of the transaction", rules: { waitsForCommit: false } },
  { name: "deduplicated outside of the transaction", rules: { marksAt: "begin" } },
  { name: "applied without a lock", rules: { locks: false } },
  { name: "a failed event counts as known", rules: { isKnown: () => true } },
  { name: "the window is too short", rules: { keepUntil: (_line, nowMs) => nowMs + DAY_MS / 100_000 } },
  // Decisions outside of the store.
  {
    name: "a lost answer counts as success",
    decisions: {
      outcomeOf: (outcome) => (outcome.kind === "unknown" ? { kind: "acknowledged", status: 200 } : outcome),
    },
  },
  {
    name: "a failed handler is answered with success",
    decisions: { replyOf: (reply) => (reply.status === 500 ? { ...reply, status: 200 } : reply) },
  },
  {
    name: "a transaction is acknowledged before it is durable",
    decisions: { answersBeforeSync: (call) => call === "commit" },
  },
  {
    name: "a publication is acknowledged before it is durable",
    decisions: { answersBeforeSync: (call) => call === "append" },
  },
  {
    name: "a lease is told before it is durable",
    decisions: { answersBeforeSync: (call) => call === "claim" },
  },
];

/** How to run the simulator with a bug in it. */
export function planted({ rules, decisions = {} }: PlantedBug): SimulateOptions {
  const wrong: ModelRules = { ...RIGHT_RULES, ...rules };
  return { openStore: (parts) => new ModelStore(parts, wrong), decisions };
}
