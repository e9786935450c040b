import type { Handled } from "../../../inbox/inbox-store.js";
import { mayTakeOver } from "../../../inbox/inbox-store.js";
import { arrivalsOf, inboxConsumer } from "../../../inbox/worker/stored-arrival.js";
import type { StoredArrival } from "../../../inbox/worker/stored-arrival.js";
import { redrivenAttempts } from "../../../inbox/worker/redriven-attempts.js";
import type { Applied, ApplyLimits, ApplyWork, EnteredDelivery } from "../../../inbox/worker/worker-store.js";
import type { Claim } from "../../../lanes/lane-store.js";
import type { MemoryTransaction, MemoryTx } from "../client/transaction.js";
import { commitEffects, run } from "../inbox/accept.js";
import type { AcceptParts } from "../inbox/accept.js";
import { appliedRow, textOf } from "../inbox/inbox-row.js";
import type { MemoryParts } from "../parts.js";
import { laneOf } from "./lane-row.js";
import { writeChange } from "./record-ended.js";
import { leaseRun } from "./run.js";

export interface ApplyParts extends MemoryParts {
  readonly inbox: AcceptParts;
}

/** An event of a run whose handler may run. */
interface Entered extends StoredArrival {
  readonly key: string;
}

/** Runs the handlers of a claim; their effects, the rows of the inbox and the lane's next state are one step. */
export async function apply(
  parts: ApplyParts,
  claim: Claim,
  work: ApplyWork<MemoryTx>,
  limits: ApplyLimits,
): Promise<Applied> {
  const { rows, applying, begin, clock } = parts.inbox;
  const consumer = inboxConsumer(claim);
  const arrivals = arrivalsOf(claim).map(({ delivery, arrival }) => ({
    delivery,
    arrival,
    key: textOf(arrival, consumer),
  }));
  const isKnown = ({ key }: Entered): boolean => {
    const row = rows.get(key);
    return row !== undefined && !mayTakeOver(row.outcome);
  };
  const stop = arrivals.findIndex((each) => applying.has(each.key) || isKnown(each));
  const [head] = arrivals;
  if (stop === 0 && head !== undefined) {
    if (!isKnown(head)) return { kind: "busy" };
    const next = settleApplied(parts, claim, { count: 1, limits, startedAtMs: clock.now() });
    return next === "stale" ? { kind: "stale" } : { kind: "duplicate", count: 1, next };
  }
  const entered = stop === -1 ? arrivals : arrivals.slice(0, stop);
  for (const { key } of entered) applying.add(key);
  const startedAtMs = clock.now();
  const tx = begin();
  try {
    const inboxRound = (key: string): number => rows.get(key)?.round ?? 1;
    const deliveries = entered.map(({ delivery, key }) => ({ ...delivery, inboxRound: inboxRound(key) }));
    const ran = await run((inside) => work(inside, deliveries as [EnteredDelivery]), tx, limits.signal);
    if ("thrown" in ran) {
      tx.rollback();
      return { kind: "failed", error: ran.thrown };
    }
    return commit(parts, claim, { entered, handled: ran.handled, tx, limits, startedAtMs });
  } finally {
    for (const { key } of entered) applying.delete(key);
  }
}

interface Done {
  readonly entered: readonly Entered[];
  readonly handled: readonly Handled[];
  readonly tx: MemoryTransaction;
  readonly limits: ApplyLimits;
  readonly startedAtMs: number;
}

// Nothing awaits from here on: the fence is looked at, and all is written, in one step.
function commit(parts: ApplyParts, claim: Claim, done: Done): Applied {
  const { entered, handled, tx } = done;
  const { clock, rows, nextNumber } = parts.inbox;
  const next = settleApplied(parts, claim, { ...done, count: entered.length });
  if (next === "stale") {
    tx.rollback();
    return { kind: "stale" };
  }
  const consumer = inboxConsumer(claim);
  entered.forEach(({ delivery, arrival, key }, n) => {
    const outcome = handled[n] ?? { outcome: "success" };
    const owner = { consumer, storedAs: delivery.event.id };
    const writing = { before: rows.get(key), nowMs: clock.now(), number: nextNumber() };
    rows.set(key, appliedRow(arrival, outcome, { ...writing, owner }));
  });
  commitEffects(tx);
  return { kind: "applied", count: entered.length, next };
}

function settleApplied(
  parts: ApplyParts,
  claim: Claim,
  { count, limits, startedAtMs }: Pick<Done, "limits" | "startedAtMs"> & { readonly count: number },
): Claim | "stale" | undefined {
  const { lanes, endpoints, rule } = parts;
  const row = lanes.find(claim.kind, claim.id);
  if (row === undefined || !rule.isCurrent(laneOf(row), claim)) return "stale";
  const active = endpoints.isActive(row.endpointId);
  const durationMs = parts.inbox.clock.now() - startedAtMs;
  const attempts = redrivenAttempts(claim, count, { startedAtMs, durationMs });
  const settlement = { attempts, acknowledged: count, rest: undefined, next: limits.next };
  const change = rule.settled(laneOf(row), settlement, { active });
  writeChange(parts, row, change);
  return leaseRun(parts, row, change, limits);
}
