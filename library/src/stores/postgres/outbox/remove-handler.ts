import { reach } from "#faults";
import type { HandlerRemoval, HandlerRemoved } from "../../../lanes/handler-consumer.js";
import { withoutNul } from "../client/identifiers.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Sequencer } from "../lanes/sequence.js";
import { lockStage } from "../lanes/stage.js";
import type { Tables } from "../schema/tables.js";
import { markChanged } from "./consumer-book.js";
import { cancelSome, raiseGeneration } from "./endpoints.js";

/** Removes a handler unless a worker has it; what waits for it is cancelled in steps. */
export async function removeHandler(
  parts: StoreDatabase & { readonly sequencer: Sequencer },
  id: string,
  removal: HandlerRemoval,
): Promise<HandlerRemoved> {
  const { transactions, tables, sequencer } = parts;
  const removed = await transactions.run(async (session) => {
    // Nothing is given a place of the handler between its removal and the mark of it.
    await lockStage(session, tables);
    reach("remove_handler.before_record");
    if (!(await takeOut(session, { id, removal }, tables)))
      return (await isHandler(session, id, tables)) ? "seen" : "unknown";
    await markChanged(session, tables);
    await raiseGeneration(session, tables);
    reach("remove_handler.after_record");
    return "removed";
  });
  reach("remove_handler.after_commit");
  if (removed === "removed") await cancelSome(sequencer);
  return removed;
}

/** False where there is none, or a worker has it. */
async function takeOut(
  session: Session,
  { id, removal }: { readonly id: string; readonly removal: HandlerRemoval },
  { consumer }: Tables,
): Promise<boolean> {
  const { unseenForMs, because, by } = removal;
  const { rows } = await session.query({
    text: `
      update ${consumer} set removed_at = clock_timestamp(), because = $3::text, paused_by = $4::text,
        version = version + 1, mark = gen_random_uuid()
      where public_id = $1::text and kind = 'handler' and removed_at is null
        and coalesce(seen_at <= clock_timestamp() - make_interval(secs => $2::text::float8 / 1000), true)
      returning 'removed' as removed`,
    params: [
      withoutNul(id),
      String(unseenForMs),
      withoutNul(because),
      by === undefined ? null : withoutNul(by),
    ],
  });
  return rows.length > 0;
}

async function isHandler(session: Session, id: string, { consumer }: Tables): Promise<boolean> {
  const { rows } = await session.query({
    text: `select 1 as found from ${consumer} where public_id = $1::text and kind = 'handler' and removed_at is null`,
    params: [withoutNul(id)],
  });
  return rows.length > 0;
}
