import { reach } from "#faults";
import type { Removal, RemovalStep, RetentionStore } from "../../../retention/retention-store.js";
import { pagesToGiveBack } from "../../../retention/space.js";
import type { SqliteClient } from "../client/client.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { readRetention } from "./census.js";
import { removeAttempts } from "./remove-attempts.js";
import { removeEnded } from "./remove-ended.js";
import { removeEvents } from "./remove-events.js";
import { removeHolds } from "./remove-holds.js";
import { removeEmptyLanes } from "./remove-lanes.js";
import type { Removed } from "./removed.js";

// Few enough for one turn to leave the event loop free soon: an event with its records takes 30 microseconds.
const EVENTS_PER_TURN = 100;

/** Removes what is old. */
export function createRetention(session: OutboxSession): RetentionStore {
  return {
    async removeOld(step) {
      const removal = await session.write((turn) => removeOld(turn, step));
      reach("remove.after_commit");
      return removal;
    },
    retention: () => session.look(readRetention),
  };
}

/** One step is one transaction; the write lock lets one process at a time make one. */
function removeOld(turn: OutboxTurn, given: RemovalStep): Removal {
  const step = { ...given, limit: Math.min(EVENTS_PER_TURN, given.limit) };
  const removed = removeKind(turn, step);
  reach("remove.before_lanes");
  const holds = step.kind === "events" ? removeHolds(turn, step) : 0;
  const rows = removed.rows + removeEmptyLanes(turn, removed.lanes) + holds;
  if (rows > 0 || removed.next === undefined || removed.upTo !== undefined)
    note(turn, step, { ...removed, rows });
  giveSpaceBack(turn.client);
  reach("remove.before_commit");
  return { kind: "done", removed: rows, next: removed.next };
}

function removeKind(turn: OutboxTurn, step: RemovalStep): Removed {
  switch (step.kind) {
    case "events":
      return removeEvents(turn, step);
    case "attempts":
    case "answers":
      return removeAttempts(turn, step);
    case "dead":
    case "cancelled":
    case "set_aside":
    case "ids":
      return removeEnded(turn, step);
  }
}

function note(
  { client, nowMs }: OutboxTurn,
  { kind }: RemovalStep,
  { rows, next, upTo = 0n }: Removed,
): void {
  client.run(
    `insert into posthorn_retention (kind, removed, up_to, passed_at) values (?, ?, ?, ?)
     on conflict (kind) do update set removed = removed + excluded.removed, up_to = max(up_to, excluded.up_to),
       passed_at = coalesce(excluded.passed_at, passed_at)`,
    kind,
    rows,
    upTo,
    next === undefined ? nowMs : null,
  );
}

const INCREMENTAL = 2;

/** Only where the file was made to shrink by steps; elsewhere its pages are used again. */
function giveSpaceBack(client: SqliteClient): void {
  if (client.setting("auto_vacuum", "auto_vacuum") !== INCREMENTAL) return;
  const pages = client.setting("page_count", "page_count");
  const count = pagesToGiveBack({ pages, free: client.setting("freelist_count", "freelist_count") });
  // By exec, which runs it to its end: each step of the statement gives back one page.
  if (count > 0) client.exec(`pragma incremental_vacuum(${count})`);
}
