import { consumerStanding } from "../../../../operator/inbox-view-store.js";
import type { ConsumerStanding } from "../../../../operator/inbox-view-store.js";
import { readHandlers } from "../../lanes/register.js";
import type { OutboxTurn } from "../../outbox/turn.js";
import { groupsOf } from "./dead-filter.js";
import { standingsOf } from "./standings.js";

interface SeenColumns {
  readonly public_id: string;
  readonly seen_at: bigint | null;
}

/** Every registered handler, and how much waits for it. */
export function listConsumers(turn: OutboxTurn): readonly ConsumerStanding[] {
  const standings = new Map(standingsOf(turn, "handler").map((each) => [each.endpointId, each]));
  const rows = turn.client.allWide(
    "select public_id, seen_at from posthorn_consumer where kind = 'handler' and removed_at is null",
  ) as SeenColumns[];
  const seen = new Map(rows.map((row) => [row.public_id, row]));
  return readHandlers(turn).map((handler) =>
    consumerStanding(handler, {
      standing: standings.get(handler.id),
      seenAt: instant(seen.get(handler.id)?.seen_at),
      dead: groupsOf(turn, { endpointId: handler.id }).reduce((sum, { count }) => sum + Number(count), 0),
    }),
  );
}

function instant(ms: bigint | null | undefined): Date | undefined {
  return ms === null || ms === undefined ? undefined : new Date(Number(ms));
}
