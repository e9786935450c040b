import { reach } from "#faults";
import type { HeldReleased } from "../../../operator/held-store.js";
import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import { bigint, columns, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { releaseHold } from "../lanes/hold.js";
import { lockStage } from "../lanes/stage.js";
import { sqlFor } from "../schema/tables.js";

const FOUND = columns<{ readonly eventId: bigint; readonly source: string; readonly key: string }>({
  eventId: bigint("held.event_id"),
  source: text("held.source"),
  key: text("held.key"),
});

/** Gives up what a held event waits for. */
export async function releaseHeld(
  { transactions, tables, observer }: StoreDatabase & { readonly observer: Observer | undefined },
  tenant: string,
  id: string,
): Promise<HeldReleased> {
  const released = await transactions.run(async (session) => {
    // Read under the lock: who sequences meanwhile may have let it go.
    await lockStage(session, tables);
    const { rows } = await session.query({ text: FIND(tables), params: [tenant, id] });
    const [row] = rows;
    if (row === undefined) return undefined;
    reach("release.before_record");
    const done = await releaseHold(session, { tenant, ...FOUND.read(row) }, tables);
    reach("release.after_record");
    return done;
  });
  reach("release.after_commit");
  if (released === undefined) return { kind: "unknown" };
  const { events, gaps, told } = released;
  for (const signal of told) notify(observer, signal);
  return { kind: "released", events, gaps };
}

const FIND = sqlFor(
  ({ event, held }) => `
    with found as materialized (
      select id from ${event} where public_id = $2::text and tenant = $1::text
    )
    select ${FOUND.list} from ${held} as held where held.event_id = (select max(id) from found)`,
);
