import { ModelStore } from "../../simulator/model-store.js";
import { RIGHT_RULES } from "../../simulator/model-rules.js";
import type { Decisions } from "../../simulator/world.js";
import type { ModelRules } from "../../simulator/model-rules.js";
import type { SimulateOptions } from "../../simulator/simulate.js";

/** A mistake of logic that somebody could make, and that the simulator must find. */
export interface PlantedBug {
  readonly name: string;
  /** The first seed that finds it, as `npx tsx scripts/simulate.ts --bugs` prints it. */
  readonly foundAt: number;
  readonly rules?: Partial<ModelRules>;
  readonly decisions?: Decisions;
}

const DAY_MS = 24 * 3600 * 1000;

export const PLANTED_BUGS: readonly PlantedBug[] = [
  // Leases.
  {
    name: "no fence: an old claim may settle",
    foundAt: 23,
    rules: { isCurrent: (lane) => lane.deliveries.length > 0 },
  },
  {
    name: "the epoch is used again after a lapse",
    foundAt: 0,
    rules: { nextEpoch: (lane) => (lane.lapses > 0 ? lane.epoch : lane.epoch + 1n) },
  },
  {
    name: "a lease ends before its time",
    foundAt: 0,
    rules: { leaseEnd: (now, leaseMs) => now + leaseMs / 20 },
  },
  { name: "release frees what is held", foundAt: 102, rules: { frees: () => true } },
  {
    name: "a paused endpoint is claimed",
    foundAt: 4,
    rules: { isActive: (endpoint) => endpoint?.state !== "disabled" },
  },
  {
    name: "a run is leased while one of it is suspect",
    foundAt: 16,
    rules: { mayRun: (lane) => lane.attempts === 0 },
  },
  {
    name: "what was tried before goes in a run",
    foundAt: 0,
    rules: { mayRun: (_lane, lastWasSettled) => lastWasSettled },
  },
  { name: "what kills processes runs beside others", foundAt: 3, rules: { runsAlone: () => false } },
  { name: "a lapse kills at once", foundAt: 23, rules: { fatalLapses: 1 } },
  // Counting.
  { name: "a lapse spends a failure", foundAt: 0, rules: { lapseSpendsFailure: true } },
  { name: "settled without its attempts", foundAt: 0, rules: { keepsAttempts: false } },
  { name: "a retry does not wait", foundAt: 0, rules: { dueAt: (now) => now } },
  // Order.
  { name: "a retry passes the head", foundAt: 0, rules: { failedStaysHead: false } },
  {
    name: "sequences against the order of commits",
    foundAt: 5,
    rules: { inOrder: (stage) => RIGHT_RULES.inOrder(stage).toReversed() },
  },
  {
    name: "sequences by a cursor",
    foundAt: 4,
    rules: { isSeen: ({ event }, sequencedTo) => event.rowId > sequencedTo },
  },
  {
    name: "sequences twice what one batch did not hold",
    foundAt: 2,
    rules: { takesOffStage: ({ more }) => !more },
  },
  { name: "a dead head does not stop its lane", foundAt: 11, rules: { stopsAtDead: false } },
  // Loss.
  {
    name: "a wake-up is lost: a lane that was empty is not armed",
    foundAt: 0,
    rules: { arms: (lane) => lane.epoch === 0n },
  },
  { name: "skipped without a record", foundAt: 3, rules: { recordsDead: false } },
  { name: "cancelled without a record", foundAt: 8, rules: { recordsCancelled: false } },
  {
    name: "all of a run is acknowledged with its first",
    foundAt: 0,
    rules: { acknowledges: (acknowledged, run) => (acknowledged > 0 ? run : 0) },
  },
  { name: "the head of a disabled endpoint is dropped", foundAt: 20, rules: { disabledKeepsHead: false } },
  { name: "what was to be delivered later is forgotten", foundAt: 4, rules: { placesLater: false } },
  { name: "an intended skip is forgotten", foundAt: 30, rules: { appliesIntent: false } },
  { name: "a second click passes over the next", foundAt: 43, rules: { isMeant: () => true } },
  // Doubles.
  { name: "redriven twice, sent twice", foundAt: 23, rules: { forgetsDeadAtRedrive: false } },
  { name: "a redrive stays in its round", foundAt: 23, rules: { redrivenRound: (round) => round } },
  { name: "the same id is published twice", foundAt: 0, rules: { remembersIds: false } },
  { name: "expired, and sent", foundAt: 8, rules: { expiresInMs: () => undefined } },
  { name: "delivered before its time", foundAt: 4, rules: { isLater: () => false } },
  // Transactions.
  { name: "published outside of the transaction", foundAt: 1, rules: { waitsForCommit: false } },
  { name: "deduplicated outside of the transaction", foundAt: 3, rules: { marksAt: "begin" } },
  { name: "applied without a lock", foundAt: 99, rules: { locks: false } },
  { name: "a failed event counts as known", foundAt: 3, rules: { isKnown: () => true } },
  {
    name: "the window is too short",
    foundAt: 91,
    rules: { keepUntil: (_line, nowMs) => nowMs + DAY_MS / 100_000 },
  },
  // Decisions outside of the store.
  {
    name: "what was held up past its lease is sent",
    foundAt: 23,
    decisions: { leftMs: () => 1 },
  },
  {
    name: "a lost answer counts as success",
    foundAt: 0,
    decisions: {
      outcomeOf: (outcome) => (outcome.kind === "unknown" ? { kind: "acknowledged", status: 200 } : outcome),
    },
  },
  {
    name: "a failed handler is answered with success",
    foundAt: 8,
    decisions: { replyOf: (reply) => (reply.status === 500 ? { ...reply, status: 200 } : reply) },
  },
  {
    name: "a transaction is acknowledged before it is durable",
    foundAt: 39,
    decisions: { answersBeforeSync: (call) => call === "commit" },
  },
  {
    name: "a publication is acknowledged before it is durable",
    foundAt: 236,
    decisions: { answersBeforeSync: (call) => call === "append" },
  },
  {
    name: "a lease is told before it is durable",
    foundAt: 48,
    decisions: { answersBeforeSync: (call) => call === "claim" },
  },
];

/** How to run the simulator with a bug in it. */
export function planted({ rules, decisions = {} }: PlantedBug): SimulateOptions {
  const wrong: ModelRules = { ...RIGHT_RULES, ...rules };
  return { openStore: (parts) => new ModelStore(parts, wrong), decisions };
}
