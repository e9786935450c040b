import { reach } from "#faults";
import type { Removal, RemovalStep, RetentionStore } from "../../../retention/retention-store.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { readRetention } from "./census.js";
import { removeAttempts } from "./remove-attempts.js";
import { removeEnded } from "./remove-ended.js";
import { removeEvents } from "./remove-events.js";
import { removeHolds } from "./remove-holds.js";
import { removeEmptyLanes } from "./remove-lanes.js";
import type { Removed } from "./removed.js";
import { awaitStaging, TRY_LOCK } from "./retention-lock.js";

/** Removes what is old. */
export function createRetention(database: StoreDatabase): RetentionStore {
  return {
    removeOld: (step) => removeOld(database, step),
    retention: () => readRetention(database),
  };
}

/** One step is one transaction; one process at a time makes one. */
async function removeOld({ transactions, tables }: StoreDatabase, step: RemovalStep): Promise<Removal> {
  const lock = { text: TRY_LOCK(tables), params: [], prepared: true };
  const removal = await transactions.runFrom(lock, async (scope, { rows }): Promise<Removal> => {
    if (rows[0]?.[0] !== "true") return { kind: "busy" };
    await awaitStaging(scope, tables);
    const removed = await removeKind(scope, step, tables);
    reach("remove.before_lanes");
    const lanes = removed.lanes.length === 0 ? 0 : await removeEmptyLanes(scope, removed.lanes, tables);
    const holds = step.kind === "events" ? await removeHolds(scope, step, tables) : 0;
    const total = removed.rows + lanes + holds;
    if (total > 0 || removed.next === undefined || removed.upTo !== undefined)
      await scope.query(note(step, { ...removed, rows: total }, tables));
    reach("remove.before_commit");
    return { kind: "done", removed: total, next: removed.next };
  });
  reach("remove.after_commit");
  return removal;
}

function removeKind(session: Session, step: RemovalStep, tables: Tables): Promise<Removed> {
  switch (step.kind) {
    case "events":
      return removeEvents(session, step, tables);
    case "attempts":
    case "answers":
      return removeAttempts(session, step, tables);
    case "dead":
    case "cancelled":
    case "set_aside":
    case "ids":
      return removeEnded(session, step, tables);
  }
}

function note({ kind }: RemovalStep, { rows, next, upTo }: Removed, tables: Tables) {
  return {
    text: NOTE(tables),
    params: [kind, String(rows), upTo === undefined ? null : String(upTo), next === undefined ? "t" : "f"],
    prepared: true,
  };
}

const NOTE = sqlFor(
  ({ retention }) => `
    insert into ${retention} as known (kind, removed, up_to, passed_at)
    values ($1::text, $2::text::int8, coalesce($3::text::int8, 0), case when $4::text::bool then clock_timestamp() end)
    on conflict (kind) do update set removed = known.removed + excluded.removed,
      up_to = greatest(known.up_to, excluded.up_to), passed_at = coalesce(excluded.passed_at, known.passed_at)`,
);
