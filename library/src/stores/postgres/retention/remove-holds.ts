import type { RemovalStep } from "../../../retention/retention-store.js";
import type { Session } from "../client/database.js";
import { lockStage } from "../lanes/stage.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { intervalSql } from "./remove-events.js";

/**
 * Forgets how far keys have come of which nothing has come for as long as events are kept, and nothing is held; and places
 * that were filled before. Under the lock of the sequencer, which would write the progress of a key that was just forgotten.
 */
export async function removeHolds(
  session: Session,
  { windowMs, limit }: Pick<RemovalStep, "windowMs" | "limit">,
  tables: Tables,
): Promise<number> {
  const params = [String(windowMs), String(limit)];
  const any = await session.query({ text: ANY(tables), params: params.slice(0, 1), prepared: true });
  if (any.rows[0]?.[0] !== "true") return 0;
  await lockStage(session, tables);
  const { rows } = await session.query({ text: REMOVE(tables), params, prepared: true });
  return Number(rows[0]?.[0] ?? 0);
}

function isOldSql(at = "hold.seen_at"): string {
  return `${at} <= (select clock_timestamp()) - ${intervalSql("$1")}`;
}

const ANY = sqlFor(
  ({ hold, filled }) => `
    select (exists (select from ${hold} as hold where ${isOldSql()})
      or exists (select from ${filled} where ${isOldSql("filled_at")}))::text as "found"`,
);

const REMOVE = sqlFor(
  ({ hold, held, filled }) => `
    with gone as (
      delete from ${hold} as hold where ctid = any (array(
        select ctid from ${hold} as hold where ${isOldSql()} and not exists (
          select from ${held} as held
          where held.tenant = hold.tenant and held.source = hold.source and held.key = hold.key
        ) order by hold.seen_at limit $2::text::int8
      )) returning 1
    ), unfilled as (
      delete from ${filled} where ctid = any (array(
        select ctid from ${filled} where ${isOldSql("filled_at")} order by filled_at limit $2::text::int8
      )) returning 1
    )
    select ((select count(*) from gone) + (select count(*) from unfilled))::text as "count"`,
);
