import { reach } from "#faults";
import type { Handled } from "../../../inbox/inbox-store.js";
import { arrivalsOf, inboxConsumer } from "../../../inbox/worker/stored-arrival.js";
import type { StoredArrival } from "../../../inbox/worker/stored-arrival.js";
import { redrivenAttempts } from "../../../inbox/worker/redriven-attempts.js";
import type { Applied, ApplyLimits, ApplyWork, EnteredDelivery } from "../../../inbox/worker/worker-store.js";
import { isCurrent, settled } from "../../../lanes/lane.js";
import type { Claim } from "../../../lanes/lane-store.js";
import type { SqliteClient, SqliteDatabase } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { claimRow, failedOrThrow, noteResult, runHandler } from "../inbox/accept.js";
import type { OutboxSession } from "../outbox/session.js";
import { readRow } from "./lane-row.js";
import { changeLane } from "./lane-write.js";

export interface ApplyParts<Db extends SqliteDatabase> {
  readonly session: OutboxSession;
  readonly connection: Connection;
  readonly db: Db;
}

/** Runs the handlers of a claim in the next group: fence, rows of the inbox, handlers and the lane's next state in one part of it. */
export async function apply<Db extends SqliteDatabase>(
  parts: ApplyParts<Db>,
  claim: Claim,
  work: ApplyWork<Db>,
  limits: ApplyLimits,
): Promise<Applied> {
  const { acquireMs, signal } = limits;
  try {
    const applied = await parts.connection.handlers.join<Applied>({
      run: () => {
        // Its deadline passed while it waited for the lock: nothing has begun, so there is nothing to undo.
        if (signal.aborted) return { kind: "failed", error: signal.reason };
        return applyNow(parts, claim, work, limits);
      },
      undoable: true,
      waitMs: acquireMs,
      expired: () => ({ kind: "saturated" }),
    });
    reach("apply.after_commit");
    return applied;
  } catch (error) {
    return failedOrThrow(error);
  }
}

function applyNow<Db extends SqliteDatabase>(
  { session, db }: ApplyParts<Db>,
  claim: Claim,
  work: ApplyWork<Db>,
  limits: ApplyLimits,
): Applied {
  const turn = session.handlerTurn();
  const { client, nowMs } = turn;
  const row = readRow(client, claim.kind, claim.id);
  // First: what was skipped or claimed by another meanwhile must not be applied.
  if (row === undefined || !isCurrent(row.lane, claim)) return { kind: "stale" };
  const consumer = inboxConsumer(claim);
  reach("apply.before_enter");
  const entered = enterRun(client, arrivalsOf(claim), { nowMs, consumer });
  const count = entered.length;
  if (count > 0) {
    reach("apply.after_enter");
    const deliveries = entered.map(({ delivery, inboxRound }) => ({ ...delivery, inboxRound }));
    const all = runHandler(db, (tx) => work(tx, deliveries as [EnteredDelivery]));
    // Outside its transaction, the next statement would be committed by itself; the group finds that out.
    if (!client.inTransaction) return { kind: "applied", count, next: undefined };
    noteResults(client, entered, { all, consumer });
  }
  reach("apply.before_settle");
  const leads = turn.activeConsumer(row.consumer);
  const acknowledged = Math.max(1, count);
  const durationMs = session.nowMs() - nowMs;
  const attempts = redrivenAttempts(claim, acknowledged, { startedAtMs: nowMs, durationMs });
  const settlement = { attempts, acknowledged, rest: undefined, next: limits.next };
  const change = settled(row.lane, settlement, { active: leads !== undefined });
  const next = changeLane(turn, row, change, leads && { consumer: leads, terms: limits });
  reach("apply.after_settle");
  return count === 0 ? { kind: "duplicate", count: 1, next } : { kind: "applied", count, next };
}

interface EnteredArrival extends StoredArrival {
  readonly inboxRound: number;
}

/** Writes the rows of a run as if all had gone well, up to an event that was applied before. */
function enterRun(
  client: SqliteClient,
  arrivals: readonly StoredArrival[],
  row: { readonly nowMs: number; readonly consumer: string },
): readonly EnteredArrival[] {
  const entered: EnteredArrival[] = [];
  for (const { delivery, arrival } of arrivals) {
    const claimed = claimRow(client, arrival, { ...row, storedAs: delivery.event.id });
    if (claimed === undefined) break;
    entered.push({ delivery, arrival, inboxRound: claimed.round });
  }
  return entered;
}

function noteResults(
  client: SqliteClient,
  entered: readonly StoredArrival[],
  { all, consumer }: { readonly all: readonly Handled[]; readonly consumer: string },
): void {
  entered.forEach(({ arrival }, n) => {
    const handled = all[n] ?? { outcome: "success" };
    if (handled.outcome !== "success" || handled.result !== undefined)
      noteResult(client, arrival, { handled, consumer });
  });
}
