import type { OutboxCensus } from "../../../../operator/lookup-store.js";
import type { SqliteClient } from "../../client/client.js";
import { waitingConsumers } from "../../lanes/until-due.js";
import type { OutboxTurn } from "../../outbox/turn.js";

/** How much waits. Each number is the length of an index, which SQLite counts by its pages: a million in 10 ms. */
export function takeCensus(turn: OutboxTurn): OutboxCensus {
  const { client } = turn;
  const count = (what: string): number => counted(client, what);
  // The dead head of a lane that has stopped is still in it, and waits for nothing.
  const deadHeads = count("posthorn_lane where state <> 'flowing'");
  const held = count("posthorn_held");
  return {
    staged: count("posthorn_later") + count("posthorn_stage") + held,
    held,
    waiting:
      count("posthorn_delivery") - deadHeads + count("posthorn_loose_delivery where ready_at is not null"),
    oldestDueMs: oldestDueMs(turn),
    blockedLanes: count("posthorn_lane where blocked_at is not null"),
    dead: count("posthorn_dead where resolved_at is null"),
    setAside: count("posthorn_stage_dead where resolved_at is null"),
  };
}

function counted(client: SqliteClient, what: string): number {
  return (client.get(`select count(*) as found from ${what}`) as { found: number }).found;
}

function oldestDueMs(turn: OutboxTurn): number {
  let oldest = turn.nowMs;
  for (const { consumer, readyAt } of waitingConsumers(turn.client, 0n)) {
    if (turn.activeConsumer(consumer) !== undefined) oldest = Math.min(oldest, readyAt);
  }
  return turn.nowMs - oldest;
}
