import { reach } from "#faults";
import type { HandlerPause } from "../../../lanes/handler-consumer.js";
import type { Parameter, Session, Statement } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { withoutNul } from "../client/identifiers.js";
import { stateNow } from "../outbox/consumer-state.js";
import type { Tables } from "../schema/tables.js";

/** Pauses the handler of an id; false where there is none. */
export async function pauseHandler(
  { transactions, tables }: StoreDatabase,
  id: string,
  pause: HandlerPause,
): Promise<boolean> {
  return transactions.run(async (session) => {
    reach("pause.before_record");
    await session.query(pauseSql("public_id = $4::text", [id], { pause, tables }));
    reach("pause.after_record");
    return isHandler(session, id, tables);
  });
}

/** Pauses the consumer of a number, where that is a handler. */
export async function pauseConsumer(
  session: Session,
  number: bigint,
  given: { readonly pause: HandlerPause; readonly tables: Tables },
): Promise<void> {
  reach("pause.before_record");
  await session.query(pauseSql("id = $4::text::int8", [String(number)], given));
  reach("pause.after_record");
}

/** Ends a pause; false where there is none to end. */
export async function resumeHandler({ transactions, tables }: StoreDatabase, id: string): Promise<boolean> {
  const { rows } = await transactions.write({
    text: `
      update ${tables.consumer} as consumer set state = 'active', because = null, paused_until = null, paused_by = null, stopped_at = null,
        version = version + 1, mark = gen_random_uuid()
      where public_id = $1::text and kind = 'handler' and removed_at is null and ${stateNow("consumer")} <> 'active'
      returning 'resumed' as resumed`,
    params: [id],
  });
  return rows.length > 0;
}

/** `pausedBy` of lanes/handler-consumer.ts, in SQL. One that had ended by itself was no pause any more: this one begins now. */
function pauseSql(
  which: string,
  params: readonly Parameter[],
  { pause: { forMs, because, by }, tables }: { readonly pause: HandlerPause; readonly tables: Tables },
): Statement {
  return {
    text: `
      update ${tables.consumer} as consumer set state = 'paused', because = $2::text, paused_until = wanted.until,
        paused_by = $3::text,
        stopped_at = case when ${stateNow("consumer")} = 'active' then clock_timestamp() else stopped_at end,
        version = version + 1, mark = gen_random_uuid()
      from (select clock_timestamp() + make_interval(secs => $1::text::float8 / 1000) as until) as wanted
      where ${which} and kind = 'handler' and removed_at is null and (
        state = 'active'
        or state = 'paused' and paused_until is not null and coalesce(wanted.until > paused_until, true)
      )`,
    params: [
      forMs === undefined ? null : String(forMs),
      withoutNul(because),
      by === undefined ? null : withoutNul(by),
      ...params,
    ],
  };
}

async function isHandler(session: Session, id: string, { consumer }: Tables): Promise<boolean> {
  const { rows } = await session.query({
    text: `select 1 as found from ${consumer} where public_id = $1::text and kind = 'handler' and removed_at is null`,
    params: [id],
  });
  return rows.length > 0;
}
