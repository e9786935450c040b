import { reach } from "#faults";
import { nameOfId } from "../../../incoming-name.js";
import type { Forgotten } from "../../../operator/replay-store.js";
import { forgetSteps } from "../lanes/steps.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** Which event is meant. */
interface ForgottenEvent {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
}

/** Forgets an event at all of its consumers, with the names under which it came and the steps of its handlers. */
export function forgetEvent(turn: OutboxTurn, event: ForgottenEvent): Forgotten {
  const { client } = turn;
  const { tenant, source, id } = event;
  const key = [tenant, source, id];
  // Where its handler was removed, nobody handles what is pending.
  const rows = client.all(
    `select stored_as, outcome = 'pending' and exists (
       select 1 from posthorn_consumer where kind = 'handler' and removed_at is null
         and public_id = 'hnd_' || case consumer when '' then 'default' else consumer end) as waits
     from posthorn_inbox where tenant = ? and source = ? and event_id = ?`,
    ...key,
  ) as { waits: number; stored_as: string | null }[];
  const named = client.all(
    "select event_id from posthorn_ingest_name where tenant = ? and name = ?",
    tenant,
    nameOfId(source, id),
  ) as { event_id: string }[];
  const stored = JSON.stringify([
    ...rows.flatMap(({ stored_as }) => stored_as ?? []),
    ...named.map(({ event_id }) => event_id),
  ]);
  if (isLeased(turn, tenant, stored)) return { kind: "busy" };
  if (rows.some(({ waits }) => waits === 1)) return { kind: "pending" };
  reach("forget.before_record");
  for (const table of ["posthorn_inbox", "posthorn_inbox_attempt"])
    client.run(`delete from ${table} where tenant = ? and source = ? and event_id = ?`, ...key);
  const names = forgetNames(turn, event, stored);
  const steps = forgetSteps(client, event);
  reach("forget.after_record");
  if (rows.length + names + steps === 0) return { kind: "unknown" };
  return { kind: "forgotten", rows: rows.length, names };
}

/** Whether a worker has one of these events under way: what it runs outside of a transaction would mark the event at its end. */
function isLeased({ client, nowMs }: OutboxTurn, tenant: string, stored: string): boolean {
  const leased = client.get(
    `select 1 as leased from json_each(?) as stored
     cross join posthorn_event e indexed by posthorn_event_public_id on e.public_id = stored.value and e.tenant = ?
     cross join posthorn_place p on p.event = e.id
     cross join posthorn_consumer c on c.id = p.consumer and c.kind = 'handler'
     left join posthorn_lane l on p.lane <> 0 and l.id = p.lane and p.seq >= l.head_seq
       and p.seq < l.head_seq + max(l.run_len, 1)
     left join posthorn_loose_delivery x on p.lane = 0 and x.id = p.seq
     where coalesce(l.leased_by, x.leased_by) is not null and coalesce(l.leased_until, x.leased_until) > ? limit 1`,
    stored,
    tenant,
    nowMs,
  );
  return leased !== undefined;
}

function forgetNames({ client }: OutboxTurn, { tenant, source, id }: ForgottenEvent, stored: string): number {
  const byId = client.run(
    "delete from posthorn_ingest_name where tenant = ? and name = ?",
    tenant,
    nameOfId(source, id),
  );
  const others = client.run(
    // The character after the slash, so that all names of the source are between them.
    `delete from posthorn_ingest_name where tenant = ? and name >= ? and name < ?
       and event_id in (select value from json_each(?))`,
    tenant,
    `${source}/`,
    `${source}0`,
    stored,
  );
  return byId + others;
}
