import type { LaneSummary } from "../../../../operator/lookup-store.js";
import { numberOfCursor } from "../../../../operator/cursor.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import type { OutboxTurn } from "../../outbox/turn.js";

// How many lanes, empty ones included, a page reads by id before it uses the indexes of waiting lanes.
const LOOKED_AT = 5000;

const SELECT = `select l.id, l.consumer, l.key, l.state, l.next_seq, l.head_seq, l.failures, l.ready_at, l.leased_by,
    l.blocked_at, case c.kind when 'handler' then l.tenant else c.tenant end as tenant, c.public_id as endpoint_id, c.stopped_at
  from posthorn_lane l cross join posthorn_consumer c on c.id = l.consumer and c.removed_at is null`;

// Lanes of a removed consumer are still there while they are cancelled: left in, they would fill a page of which nothing is
// shown, and the list would end there.
const STAYS = "consumer in (select id from posthorn_consumer where removed_at is null)";

interface LaneColumns {
  readonly id: bigint;
  readonly consumer: bigint;
  readonly key: string;
  readonly state: "flowing" | "halted" | "parked";
  readonly next_seq: bigint;
  readonly head_seq: bigint;
  readonly failures: bigint;
  readonly ready_at: bigint | null;
  readonly leased_by: string | null;
  readonly blocked_at: bigint | null;
  readonly tenant: string;
  readonly endpoint_id: string;
  readonly stopped_at: bigint | null;
}

interface Span {
  readonly after: bigint;
  /** Undefined: of all consumers. */
  readonly consumer: bigint | undefined;
  readonly limit: number;
}

/** Lanes in which something waits, in the order of their ids. */
export function findLanes(
  turn: OutboxTurn,
  { endpointId }: { readonly endpointId?: string | undefined },
  page: Page,
): Paged<LaneSummary> {
  const after = numberOfCursor(page.after) ?? 0n;
  const consumer = endpointId === undefined ? undefined : turn.consumers.numbers.get(endpointId);
  if (endpointId !== undefined && consumer === undefined) return { items: [], next: undefined };
  const span = { after, consumer, limit: page.limit + 1 };
  const near = nearLanes(turn, span);
  const rows =
    near.end === undefined || near.rows.length === span.limit
      ? near.rows
      : [...near.rows, ...farLanes(turn, { ...span, after: near.end, limit: span.limit - near.rows.length })];
  const items = rows.slice(0, page.limit);
  const next = rows.length > page.limit ? String(items.at(-1)?.id) : undefined;
  return { items: items.map((row) => laneOf(turn, row)), next };
}

/** Those among the next lanes, empty or not; where most of them wait, that is all there is to look at. */
function nearLanes(
  { client }: OutboxTurn,
  { after, consumer, limit }: Span,
): { readonly rows: LaneColumns[]; readonly end: bigint | undefined } {
  const end = client.getWide(
    "select id from posthorn_lane where id > ? order by id limit 1 offset +?",
    after,
    LOOKED_AT,
  ) as { id: bigint } | undefined;
  const rows = client.allWide(
    `${SELECT} where l.id > ? and l.id <= ? and l.head_seq < l.next_seq and (? is null or l.consumer = ?)
     order by l.id limit +?`,
    after,
    end?.id ?? 2n ** 63n - 1n,
    consumer ?? null,
    consumer ?? null,
    limit,
  ) as LaneColumns[];
  return { rows, end: end?.id };
}

/** The others, by the indexes that know which lanes wait, and which SQLite would not choose: few of them do, or the page would be full. */
function farLanes({ client }: OutboxTurn, { after, consumer, limit }: Span): LaneColumns[] {
  const which = [after, consumer ?? null, consumer ?? null];
  return client.allWide(
    `${SELECT} where l.id in (
       select id from posthorn_lane indexed by posthorn_lane_ready
       where ready_at is not null and id > ? and (? is null or consumer = ?) and ${STAYS}
       union select id from posthorn_lane indexed by posthorn_lane_stopped
       where state <> 'flowing' and id > ? and (? is null or consumer = ?) and ${STAYS}
       order by 1 limit +?)
     order by l.id`,
    ...which,
    ...which,
    limit,
  ) as LaneColumns[];
}

/** Undefined where there is none, or nothing waits in it. */
export function findLane(turn: OutboxTurn, id: bigint): LaneSummary | undefined {
  const row = turn.client.getWide(`${SELECT} where l.id = ? and l.head_seq < l.next_seq`, id);
  return row === undefined ? undefined : laneOf(turn, row as LaneColumns);
}

function laneOf(turn: OutboxTurn, row: LaneColumns): LaneSummary {
  const state = stateOf(turn, row);
  // The head's own failure, or else the consumer's stop: as blockedLanes tells it.
  const isStopped = turn.stateOf(row.consumer) !== "active";
  const since = row.blocked_at ?? (isStopped ? row.stopped_at : null);
  const isMoving = state === "flowing" || state === "retrying";
  return {
    id: row.id,
    tenant: row.tenant,
    endpointId: row.endpoint_id,
    key: row.key,
    state,
    depth: row.next_seq - row.head_seq,
    head: row.head_seq,
    failures: Number(row.failures),
    blockedMs: since === null ? undefined : Math.max(0, turn.nowMs - Number(since)),
    dueInMs: isMoving ? dueInMs(row, turn.nowMs) : undefined,
  };
}

function stateOf(turn: OutboxTurn, { state, consumer, blocked_at }: LaneColumns): LaneSummary["state"] {
  if (state !== "flowing") return state;
  const stopped = turn.stateOf(consumer) ?? "active";
  if (stopped !== "active") return stopped;
  return blocked_at === null ? "flowing" : "retrying";
}

// Leased, its ready time is the end of the lease, but the attempt is under way.
function dueInMs({ leased_by, ready_at }: LaneColumns, nowMs: number): number {
  return leased_by === null && ready_at !== null ? Math.max(0, Number(ready_at) - nowMs) : 0;
}
