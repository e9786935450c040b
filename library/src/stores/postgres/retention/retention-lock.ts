import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

function keyOf(name: string, { retention }: Tables): string {
  return `hashtextextended('posthorn.${name}', '${retention}'::regclass::oid::int8)`;
}

/** Takes the lock of one step of removal, or says that another has it. */
export const TRY_LOCK: (tables: Tables) => string = sqlFor(
  (tables) => `select pg_try_advisory_xact_lock(${keyOf("retention", tables)})::text as got`,
);

const AWAIT = sqlFor(
  (tables) => `select pg_advisory_xact_lock(${keyOf("staged_again", tables)})::text as got`,
);
const KEEP_OUT = sqlFor(
  (tables) => `select pg_advisory_xact_lock_shared(${keyOf("staged_again", tables)})::text as got`,
);

/**
 * Waits for those who keep removals out, and lets nobody begin to until the end of the transaction. It waits, and is not told `busy`: one
 * redrive would end a whole pass of removals, and a long one would let none be made.
 */
export async function awaitStaging(session: Session, tables: Tables): Promise<void> {
  await session.query({ text: AWAIT(tables), params: [], prepared: true });
}

/**
 * Lets nobody remove old events until the end of the transaction; several keep them out at once. To be asked first: what is about to
 * be staged again is held by nothing yet. A removal that had looked before the commit would not see its row of the stage, and would
 * delete the event though the row were locked: it waits for the lock, and looks at nothing again. And a removal that waits for a
 * lane must not be waited for by whoever has the lane.
 */
export async function keepRemovalOut(session: Session, tables: Tables): Promise<void> {
  await session.query({ text: KEEP_OUT(tables), params: [], prepared: true });
}
