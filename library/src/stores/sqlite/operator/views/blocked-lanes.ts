import { cursorOf, numbersOfCursor } from "../../../../operator/cursor.js";
import type { BlockedLane, Page, Paged } from "../../../../operator/operator-store.js";
import { stateAt } from "../../../../lanes/handler-consumer.js";
import type { SqliteClient } from "../../client/client.js";

interface BlockedColumns {
  readonly since: bigint;
  readonly id: bigint;
  readonly consumer: bigint;
  readonly key: string;
  readonly state: "flowing" | "halted" | "parked";
  readonly consumer_state: "active" | "paused" | "disabled";
  readonly paused_until: bigint | null;
  readonly next_seq: bigint;
  readonly head_seq: bigint;
  readonly failures: bigint;
  readonly ready_at: bigint | null;
  readonly leased_by: string | null;
  readonly tenant: string;
  readonly endpoint_id: string;
  readonly event_id: string | null;
}

/** Where a page ends. Lanes whose head has failed have consumer 0: they come first among those blocked for equally long. */
interface Spot {
  readonly since: bigint;
  readonly consumer: bigint;
  readonly readyAt: bigint;
  readonly lane: bigint;
}

const START: Spot = { since: -1n, consumer: 0n, readyAt: 0n, lane: 0n };
const LAST = 2n ** 63n - 1n;

const COLUMNS = `l.id, l.consumer, l.key, l.state, c.state as consumer_state, c.paused_until, l.next_seq, l.head_seq, l.failures, l.ready_at,
  l.leased_by, case c.kind when 'handler' then l.tenant else c.tenant end as tenant, c.public_id as endpoint_id, e.public_id as event_id`;
const JOINS = `cross join posthorn_consumer c on c.id = l.consumer and c.removed_at is null
  left join posthorn_delivery d on d.lane = l.id and d.seq = l.head_seq
  left join posthorn_event e on e.id = d.event`;

/** Lanes that do not move, longest blocked first: those whose head has failed, and those of consumers that are stopped. */
export function blockedLanes(
  client: SqliteClient,
  { limit, after, nowMs }: Page & { readonly nowMs: number },
): Paged<BlockedLane> {
  const from = spotOf(after);
  const failed = failedLanes(client, from, limit + 1);
  const stopped = stoppedLanes(client, from, { limit: limit + 1, nowMs });
  const rows = [...failed, ...stopped].toSorted((left, right) => compare(left.spot, right.spot));
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(({ row }) => blockedLaneOf(row, nowMs)),
    next: rows.length > limit && last ? printSpot(last.spot) : undefined,
  };
}

interface Found {
  readonly spot: Spot;
  readonly row: BlockedColumns;
}

function failedLanes(client: SqliteClient, from: Spot, limit: number): Found[] {
  const rows = client.allWide(
    `select l.blocked_at as since, ${COLUMNS} from posthorn_lane l ${JOINS}
     where l.blocked_at is not null and (l.blocked_at, l.id) > (?, ?)
     order by l.blocked_at, l.id limit ?`,
    from.since,
    from.consumer === 0n ? from.lane : LAST,
    limit,
  ) as BlockedColumns[];
  return rows.map((row) => ({
    spot: { since: row.since, consumer: 0n, readyAt: 0n, lane: row.id },
    row,
  }));
}

/** By consumer, and in it by ready time, as the index has them: a stopped consumer can have a million of them. */
function stoppedLanes(
  client: SqliteClient,
  from: Spot,
  { limit, nowMs }: { readonly limit: number; readonly nowMs: number },
): Found[] {
  const consumers = client.allWide(
    `select id, stopped_at from posthorn_consumer
     where removed_at is null and state <> 'active' and (state = 'disabled' or paused_until is null or paused_until > ?)
       and (stopped_at, id) >= (?, ?) order by stopped_at, id`,
    nowMs,
    from.since,
    from.consumer,
  ) as { id: bigint; stopped_at: bigint }[];
  const found: Found[] = [];
  for (const { id, stopped_at } of consumers) {
    if (found.length >= limit) break;
    const start = id === from.consumer ? from : START;
    found.push(...lanesOfStopped(client, { id, since: stopped_at }, { start, limit: limit - found.length }));
  }
  return found;
}

function lanesOfStopped(
  client: SqliteClient,
  { id, since }: { readonly id: bigint; readonly since: bigint },
  { start, limit }: { readonly start: Spot; readonly limit: number },
): Found[] {
  const rows = client.allWide(
    `select ? as since, ${COLUMNS} from posthorn_lane l ${JOINS}
     where l.consumer = ? and l.state = 'flowing' and l.blocked_at is null
       and l.ready_at is not null and (l.ready_at, l.id) > (?, ?)
     order by l.ready_at, l.id limit ?`,
    since,
    id,
    start.readyAt,
    start.lane,
    limit,
  ) as BlockedColumns[];
  return rows.map((row) => ({
    spot: { since, consumer: id, readyAt: row.ready_at ?? 0n, lane: row.id },
    row,
  }));
}

function blockedLaneOf(row: BlockedColumns, nowMs: number): BlockedLane {
  const state = stateOf(row, nowMs);
  return {
    id: row.id,
    tenant: row.tenant,
    endpointId: row.endpoint_id,
    key: row.key,
    state,
    depth: row.next_seq - row.head_seq,
    head: row.head_seq,
    headEventId: row.event_id ?? "",
    blockedMs: Math.max(0, nowMs - Number(row.since)),
    failures: Number(row.failures),
    dueInMs: state === "retrying" ? dueInMs(row, nowMs) : undefined,
  };
}

function stateOf(
  { state, consumer_state, paused_until }: BlockedColumns,
  nowMs: number,
): BlockedLane["state"] {
  if (state !== "flowing") return state;
  const untilMs = paused_until === null ? undefined : Number(paused_until);
  const now = stateAt({ state: consumer_state, untilMs }, nowMs);
  return now === "active" ? "retrying" : now;
}

// Leased, its ready time is the end of the lease, but the attempt is under way.
function dueInMs({ leased_by, ready_at }: BlockedColumns, nowMs: number): number {
  return leased_by === null && ready_at !== null ? Math.max(0, Number(ready_at) - nowMs) : 0;
}

function compare(left: Spot, right: Spot): number {
  const [a, b] = [Object.values(left) as bigint[], Object.values(right) as bigint[]];
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at === -1) return 0;
  return (a[at] ?? 0n) < (b[at] ?? 0n) ? -1 : 1;
}

function printSpot({ since, consumer, readyAt, lane }: Spot): string {
  return cursorOf(since, consumer, readyAt, lane);
}

function spotOf(after: string | undefined): Spot {
  const [since, consumer = 0n, readyAt = 0n, lane = 0n] = numbersOfCursor(after, 4) ?? [];
  return since === undefined ? START : { since, consumer, readyAt, lane };
}
