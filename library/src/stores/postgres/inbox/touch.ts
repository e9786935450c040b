import { reach } from "#faults";
import type { Touch, Touches } from "../../../inbox/touches.js";
import type { Pool } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import { RECEIVER } from "./inbox-row.js";

const ROWS_PER_STATEMENT = 500;

const TOUCHES = givenRows<Touch>({
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  event_id: texts(({ id }) => id),
  window_s: numbers("float8", ({ windowS }) => windowS),
});

/** Writes the gathered receipts; those that could not be written are kept for the next time. */
export async function flushTouches(
  touches: Touches,
  pool: Pick<Pool<unknown>, "query">,
  where: { readonly inbox: string; readonly acquireMs: number },
): Promise<void> {
  while (touches.size > 0) {
    const taken = touches.take(ROWS_PER_STATEMENT);
    try {
      reach("touch.before_record");
      await writeTouches(pool, taken, where);
      reach("touch.after_record");
    } catch (error) {
      touches.putBack(taken);
      throw error;
    }
  }
}

async function writeTouches(
  pool: Pick<Pool<unknown>, "query">,
  touches: readonly Touch[],
  { inbox, acquireMs }: { readonly inbox: string; readonly acquireMs: number },
): Promise<void> {
  await pool.query(
    {
      // Locked in the order of their keys before they are changed: two processes that touch the same rows in the
      // order of their arrays wait for each other. A window is never shortened: of two nodes with different settings, the
      // one with the shorter window would make the other's events new again.
      text: `
        with known as materialized (
          select inbox.tenant, inbox.source, inbox.event_id, given.window_s
          from ${TOUCHES.table("given")} join ${inbox} as inbox using (tenant, source, event_id)
          where inbox.consumer = ${RECEIVER}
          order by inbox.tenant, inbox.source, inbox.event_id
          for no key update of inbox
        )
        update ${inbox} as inbox set receipts = receipts + 1, last_received_at = clock_timestamp(),
          keep_until = case when inbox.keep_until is not null and known.window_s is not null
            then greatest(inbox.keep_until, clock_timestamp() + make_interval(secs => known.window_s)) end
        from known where inbox.outcome not in ('failed', 'pending') and inbox.consumer = ${RECEIVER}
          and (inbox.tenant, inbox.source, inbox.event_id) = (known.tenant, known.source, known.event_id)`,
      params: TOUCHES.params(touches),
    },
    acquireMs,
  );
}
