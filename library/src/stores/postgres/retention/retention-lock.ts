import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

function lockKey({ retention }: Tables): string {
  return `hashtextextended('posthorn.retention', '${retention}'::regclass::oid::int8)`;
}

/** Takes the lock of one step of removal, or says that another has it. */
export const TRY_LOCK: (tables: Tables) => string = sqlFor(
  (tables) => `select pg_try_advisory_xact_lock(${lockKey(tables)})::text as got`,
);

const KEEP_OUT = sqlFor((tables) => `select pg_advisory_xact_lock_shared(${lockKey(tables)})::text as got`);

/**
 * Lets nobody remove old events until the end of the transaction; several keep them out at once. To be asked first: what is about to
 * be staged again is held by nothing yet. A removal that had looked before the commit would not see its row of the stage, and would
 * delete the event though the row were locked: it waits for the lock, and looks at nothing again. And a removal that waits for a
 * lane must not be waited for by whoever has the lane.
 */
export async function keepRemovalOut(session: Session, tables: Tables): Promise<void> {
  await session.query({ text: KEEP_OUT(tables), params: [], prepared: true });
}
