import type { Addressed } from "../../../outbox/fan-out.js";
import { UNCLAIMED } from "../../../outbox/fan-out.js";
import { matcherOf } from "../../../pattern.js";
import { MARKED } from "../../../receipt.js";
import type { SqliteClient } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** An event that waits for its places. */
export interface Staged {
  readonly id: bigint;
  readonly tenant: string;
  readonly eventId: bigint;
  /** Undefined where the event itself is gone. */
  readonly publicId: string | undefined;
  /** The last consumer that has its place, where the event was given a part of its places. */
  readonly after: bigint | undefined;
  /** Undefined where the event itself is gone. */
  readonly event: Addressed | undefined;
  /** Of an event that may have to be held until its turn comes. */
  readonly receipt: string | undefined;
}

/** Puts an event behind those of its tenant that wait for their places. */
export function stageEvent(turn: OutboxTurn, tenant: string, event: bigint): void {
  turn.client.run("insert into posthorn_stage (tenant, event) values (?, ?)", withoutNul(tenant), event);
  turn.mayWait = true;
}

/** Whether events of the tenant wait for their places: none of its others may pass them. */
export function isStaged({ client, mayWait }: OutboxTurn, tenant: string): boolean {
  if (!mayWait) return false;
  const found = client.get(
    "select 1 as found from posthorn_stage where tenant = ? limit 1",
    withoutNul(tenant),
  );
  return found !== undefined;
}

/** Whether anything waits for its places, its time has come, it was held for long enough, or a place was filled. */
export function isAnyStaged({ client, nowMs }: OutboxTurn): boolean {
  return (
    client.get("select 1 as found from posthorn_stage where id > 0 limit 1") !== undefined ||
    client.get("select 1 as found from posthorn_later where deliver_at <= ? limit 1", nowMs) !== undefined ||
    client.get("select 1 as found from posthorn_held where until <= ? limit 1", nowMs) !== undefined ||
    client.get("select 1 as found from posthorn_filled where judged = 0 limit 1") !== undefined
  );
}

/** Moves events whose time has come to the end of the stage: they take their places now. Says how many. */
export function moveDue({ client, nowMs }: OutboxTurn, limit: number): number {
  const due = client.allWide(
    "select deliver_at, event from posthorn_later where deliver_at <= ? order by deliver_at, event limit +?",
    nowMs,
    limit,
  ) as { deliver_at: bigint; event: bigint }[];
  for (const { deliver_at, event } of due) {
    client.run(
      // Where the event is gone, nobody knows its tenant; the row is set aside then, as one of nobody's.
      `insert into posthorn_stage (tenant, event)
       values (coalesce((select tenant from posthorn_event where id = ?), ''), ?)`,
      event,
      event,
    );
    client.run("delete from posthorn_later where deliver_at = ? and event = ?", deliver_at, event);
  }
  return due.length;
}

/** Tenants of which something waits, once around the circle that begins after one of them. */
export function stagedTenants(client: SqliteClient, after: string, limit: number): readonly string[] {
  const tenants: string[] = [];
  const next = (from: string, operator: ">" | ">="): string | undefined => {
    const row = client.get(
      `select tenant from posthorn_stage where tenant ${operator} ? order by tenant limit 1`,
      from,
    ) as { tenant: string } | undefined;
    return row?.tenant;
  };
  for (let tenant = next(after, ">"); tenant !== undefined; tenant = next(tenant, ">")) {
    if (tenants.push(tenant) === limit) return tenants;
  }
  for (let tenant = next("", ">="); tenant !== undefined && tenant <= after; tenant = next(tenant, ">")) {
    if (tenants.push(tenant) === limit) return tenants;
  }
  return tenants;
}

/** The first events of a tenant, in the order of the stage; one that has a part of its places is finished first. */
export function readStaged(client: SqliteClient, tenant: string, limit: number): readonly Staged[] {
  const rows = client.allWide(
    `select s.id, s.tenant, s.event, s.after_consumer, e.public_id, e.source, e.type, e.key, e.receipt is not null as stored,
       case when instr(e.receipt, '${MARKED}') > 0 then e.receipt end as receipt
     from posthorn_stage s left join posthorn_event e on e.id = s.event
     where s.tenant = ? order by s.id limit +?`,
    tenant,
    limit,
  ) as StagedColumns[];
  return rows.map(stagedOf);
}

interface StagedColumns {
  readonly id: bigint;
  readonly tenant: string;
  readonly event: bigint;
  readonly after_consumer: bigint | null;
  readonly public_id: string | null;
  readonly source: string | null;
  readonly type: string | null;
  readonly key: string | null;
  readonly stored: bigint;
  readonly receipt: string | null;
}

function stagedOf(row: StagedColumns): Staged {
  const { id, tenant, event, after_consumer, public_id, source, type, key, stored, receipt } = row;
  return {
    id,
    tenant,
    eventId: event,
    publicId: public_id ?? undefined,
    after: after_consumer ?? undefined,
    receipt: receipt ?? undefined,
    event:
      public_id === null
        ? undefined
        : {
            tenant,
            source: source ?? "",
            type: type ?? "",
            key: key ?? undefined,
            isStored: stored === 1n,
          },
  };
}

/** The event has all of its places. */
export function consume(client: SqliteClient, { id }: Staged): void {
  client.run("delete from posthorn_stage where id = ?", id);
}

/** The event has its places up to this consumer. */
export function keepPart(client: SqliteClient, { id }: Staged, after: bigint): void {
  client.run("update posthorn_stage set after_consumer = ? where id = ?", after, id);
}

/**
 * Stages what was set aside because no handler named its source, where it comes from these sources. Under its old number: it
 * comes before what was stored later.
 */
export function stageUnclaimed(turn: OutboxTurn, gained: readonly string[]): void {
  const { client } = turn;
  const matches = matcherOf(gained);
  const unclaimed = client.allWide(
    `select d.id, d.tenant, d.event, d.stage, e.source from posthorn_stage_dead d join posthorn_event e on e.id = d.event
     where d.resolved_at is null and d.error = ? order by d.stage`,
    UNCLAIMED,
  ) as { id: bigint; tenant: string; event: bigint; stage: bigint; source: string }[];
  const aside = unclaimed.filter(({ source }) => matches(source));
  for (const { id, tenant, event, stage } of aside) {
    client.run("insert into posthorn_stage (id, tenant, event) values (?, ?, ?)", stage, tenant, event);
    client.run("delete from posthorn_stage_dead where id = ?", id);
  }
  if (aside.length > 0) turn.mayWait = true;
}

/** Sets an event aside that cannot be given its places: it must not stop the others. */
export function setAside(turn: OutboxTurn, staged: Staged, message: string): void {
  const { id, tenant, eventId, publicId, after } = staged;
  turn.client.run(
    `insert into posthorn_stage_dead (stage, tenant, event, after_consumer, error, died_at) values (?, ?, ?, ?, ?, ?)`,
    id,
    tenant,
    eventId,
    after ?? null,
    message,
    turn.nowMs,
  );
  turn.client.run("delete from posthorn_stage where id = ?", id);
  turn.notify({ kind: "sequence_failed", id: publicId ?? String(eventId), message });
}
