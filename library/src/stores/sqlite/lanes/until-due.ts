import { waitingEndpoints } from "./due-endpoints.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** Milliseconds until something can be claimed or sequenced; undefined when nothing waits for its time. */
export function untilDue(turn: OutboxTurn): number | undefined {
  let first = firstLater(turn);
  for (const { endpoint, readyAt } of waitingEndpoints(turn.client, 0n)) {
    if (first <= turn.nowMs) break;
    if (turn.activeEndpoint(endpoint) !== undefined) first = Math.min(first, readyAt);
  }
  return first === Infinity ? undefined : Math.max(0, first - turn.nowMs);
}

function firstLater({ client }: OutboxTurn): number {
  const row = client.get("select min(deliver_at) as first from posthorn_later") as { first: number | null };
  return row.first ?? Infinity;
}
