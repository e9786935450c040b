import { cursorOf, numberOfCursor } from "../../../operator/cursor.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import type { RedrivenEvent, SetAsideEvent } from "../../../operator/set-aside-store.js";
import type { OutboxTurn } from "../outbox/turn.js";

interface SetAsideColumns {
  readonly id: bigint;
  readonly tenant: string;
  readonly public_id: string | null;
  readonly type: string | null;
  readonly error: string;
  readonly died_at: bigint;
}

/** Events that could not be given their places, newest first. */
export function setAside({ client }: OutboxTurn, { limit, after }: Page): Paged<SetAsideEvent> {
  const before = numberOfCursor(after);
  const rows = client.allWide(
    `select s.id, s.tenant, e.public_id, e.type, s.error, s.died_at
     from posthorn_stage_dead s left join posthorn_event e on e.id = s.event
     where s.resolved_at is null and s.id < ? order by s.id desc limit +?`,
    before ?? 2n ** 63n - 1n,
    limit + 1,
  ) as SetAsideColumns[];
  const items = rows.slice(0, limit).map(setAsideOf);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? cursorOf(last.number) : undefined };
}

function setAsideOf({ id, tenant, public_id, type, error, died_at }: SetAsideColumns): SetAsideEvent {
  return {
    number: id,
    tenant,
    eventId: public_id ?? undefined,
    type: type ?? undefined,
    error,
    setAsideAt: new Date(Number(died_at)),
  };
}

/** Puts an event that was set aside to the end of its tenant's stage; what it was given of its places before, it has. */
export function redriveEvent(turn: OutboxTurn, number: bigint): RedrivenEvent {
  const { client } = turn;
  const row = client.getWide(
    `select s.tenant, s.event, s.after_consumer, e.id as found
     from posthorn_stage_dead s left join posthorn_event e on e.id = s.event
     where s.id = ? and s.resolved_at is null`,
    number,
  ) as { tenant: string; event: bigint; after_consumer: bigint | null; found: bigint | null } | undefined;
  if (row === undefined) return "unknown";
  client.run("update posthorn_stage_dead set resolved_at = ? where id = ?", turn.nowMs, number);
  if (row.found === null) return "event_missing";
  client.run(
    "insert into posthorn_stage (tenant, event, after_consumer) values (?, ?, ?)",
    row.tenant,
    row.event,
    row.after_consumer,
  );
  turn.mayWait = true;
  return "staged";
}
