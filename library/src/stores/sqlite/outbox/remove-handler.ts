import { reach } from "#faults";
import type { HandlerRemoval, HandlerRemoved } from "../../../lanes/handler-consumer.js";
import { withoutNul } from "../inbox/inbox-row.js";
import { CANCELLED_PER_TURN } from "../lanes/sequence.js";
import { changed, raiseGeneration } from "./endpoints.js";
import { cancelRemoved } from "./remove-endpoint.js";
import type { OutboxSession } from "./session.js";
import type { OutboxTurn } from "./turn.js";

// How many turns a removal takes before it leaves the rest to the background.
const TURNS_AT_ONCE = 20;

/** Removes a handler unless a worker has it; what waits for it is cancelled in turns. */
export async function removeHandler(
  session: OutboxSession,
  id: string,
  removal: HandlerRemoval,
): Promise<HandlerRemoved> {
  const removed = await session.write((turn) => takeOut(turn, id, removal));
  reach("remove_handler.after_commit");
  if (removed === "removed") await cancelSome(session);
  return removed;
}

function takeOut(turn: OutboxTurn, id: string, { unseenForMs, because, by }: HandlerRemoval): HandlerRemoved {
  const { client, nowMs } = turn;
  const row = client.get(
    "select seen_at from posthorn_consumer where public_id = ? and kind = 'handler' and removed_at is null",
    withoutNul(id),
  ) as { seen_at: number | null } | undefined;
  if (row === undefined) return "unknown";
  if (row.seen_at !== null && nowMs - row.seen_at < unseenForMs) return "seen";
  reach("remove_handler.before_record");
  client.run(
    `update posthorn_consumer set removed_at = ?, because = ?, paused_by = ?
     where public_id = ? and kind = 'handler' and removed_at is null`,
    nowMs,
    withoutNul(because),
    by === undefined ? null : withoutNul(by),
    withoutNul(id),
  );
  changed(turn);
  raiseGeneration(turn);
  reach("remove_handler.after_record");
  return "removed";
}

/** Cancels some of what waits for removed consumers. What is left is cancelled by whoever sequences. */
export async function cancelSome(session: OutboxSession): Promise<void> {
  const step = (): Promise<boolean> => session.write((turn) => cancelRemoved(turn, CANCELLED_PER_TURN).more);
  for (let turns = 0; turns < TURNS_AT_ONCE && (await step()); turns++) reach("remove_handler.after_step");
}
