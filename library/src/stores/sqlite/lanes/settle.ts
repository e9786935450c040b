import { reach } from "#faults";
import type { Settled, SettleRequest, Settlement } from "../../../lanes/lane-store.js";
import { isCurrent, settled } from "../../../lanes/lane.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { changeLane } from "./lane-write.js";
import { readRow } from "./lane-row.js";
import type { LeaseTerms } from "./run.js";

// How many one turn takes, so that it leaves the event loop free after a few milliseconds.
const SETTLEMENTS_PER_TURN = 50;

/** Writes what came of claims, each with its attempts, and leases the next heads. */
export async function settle(
  session: OutboxSession,
  { settlements, ...terms }: SettleRequest,
): Promise<readonly Settled[]> {
  const turns: Promise<readonly Settled[]>[] = [];
  for (let from = 0; from < settlements.length; from += SETTLEMENTS_PER_TURN) {
    const some = settlements.slice(from, from + SETTLEMENTS_PER_TURN);
    turns.push(session.write((turn) => settleSome(turn, some, terms)));
  }
  return (await Promise.all(turns)).flat();
}

function settleSome(turn: OutboxTurn, settlements: readonly Settlement[], terms: LeaseTerms): Settled[] {
  reach("settle.before_record");
  const answers = settlements.map((settlement) => settleOne(turn, settlement, terms));
  reach("settle.after_record");
  return answers;
}

function settleOne(turn: OutboxTurn, settlement: Settlement, terms: LeaseTerms): Settled {
  const { claim } = settlement;
  const row = readRow(turn.client, claim.kind, claim.id);
  if (row === undefined || !isCurrent(row.lane, claim)) return { kind: "stale" };
  const consumer = turn.activeConsumer(row.consumer);
  const change = settled(row.lane, settlement, { active: consumer !== undefined });
  return { kind: "settled", next: changeLane(turn, row, change, consumer && { consumer, terms }) };
}
