import { isClaimable } from "../../../lanes/lane-store.js";
import type { Claimable } from "../../../lanes/lane-store.js";
import type { SqliteClient } from "../client/client.js";
import { pausedUntilMs } from "../outbox/turn.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { isBriefSql } from "./lane-row.js";

/** Milliseconds until something can be claimed or sequenced; undefined when nothing waits for its time. */
export function untilDue(turn: OutboxTurn, of: Claimable): number | undefined {
  // Events that wait for their places wait for nobody's clock.
  if (turn.client.get("select 1 as found from posthorn_stage where id > 0 limit 1") !== undefined) return 0;
  let first = firstLater(turn);
  if (of.kind === "handler") first = Math.min(first, longestHeld(turn));
  for (const { consumer, readyAt } of waitingConsumers(turn.client, 0n)) {
    if (first <= turn.nowMs) break;
    const known = turn.consumers.byNumber.get(consumer);
    if (known === undefined || !isClaimable(of, known)) continue;
    const until = turn.stateOf(consumer) === "active" ? readyAt : pausedUntilMs(known);
    if (until !== undefined) first = Math.min(first, Math.max(readyAt, until));
  }
  return first === Infinity ? undefined : Math.max(0, first - turn.nowMs);
}

function firstLater({ client }: OutboxTurn): number {
  const row = client.get("select min(deliver_at) as first from posthorn_later") as { first: number | null };
  return row.first ?? Infinity;
}

/** Until when the first of the held events waits for those before it. */
function longestHeld({ client }: OutboxTurn): number {
  const row = client.get("select min(until) as first from posthorn_held") as { first: number | null };
  return row.first ?? Infinity;
}

/** A consumer for which something waits, and when the first of it is due. */
export interface WaitingConsumer {
  readonly consumer: bigint;
  readonly readyAt: number;
}

/**
 * Every consumer for which something waits, once around the circle that begins after one of them; with `brief`, those
 * alone for which a brief lane or a loose delivery waits.
 */
export function* waitingConsumers(
  client: SqliteClient,
  after: bigint,
  brief = false,
): Generator<WaitingConsumer> {
  let found = nextWaiting(client, after, brief);
  while (found !== undefined) {
    yield found;
    found = nextWaiting(client, found.consumer, brief);
  }
  found = nextWaiting(client, 0n, brief);
  while (found !== undefined && found.consumer <= after) {
    yield found;
    found = nextWaiting(client, found.consumer, brief);
  }
}

/** The consumer with the next higher number for which something waits. One step in each index, however much waits there. */
function nextWaiting(client: SqliteClient, after: bigint, brief: boolean): WaitingConsumer | undefined {
  const lane = firstWaiting(client, brief ? BRIEF_LANES : ALL_LANES, after);
  const loose = firstWaiting(client, LOOSE, after);
  if (lane === undefined || loose === undefined) return lane ?? loose;
  if (lane.consumer !== loose.consumer) return lane.consumer < loose.consumer ? lane : loose;
  return lane.readyAt < loose.readyAt ? lane : loose;
}

interface Waiting {
  readonly table: string;
  /** Which of its rows. */
  readonly rows: string;
}

const ALL_LANES: Waiting = { table: "posthorn_lane", rows: "ready_at is not null" };
// Without its name, SQLite takes the index of all lanes, and reads past every lane that is not brief.
const BRIEF_LANES: Waiting = {
  table: "posthorn_lane indexed by posthorn_lane_brief",
  rows: `ready_at is not null and ${isBriefSql("posthorn_lane")}`,
};
const LOOSE: Waiting = { table: "posthorn_loose_delivery", rows: "ready_at is not null" };

function firstWaiting(
  client: SqliteClient,
  { table, rows }: Waiting,
  after: bigint,
): WaitingConsumer | undefined {
  const row = client.getWide(
    `select consumer, ready_at from ${table}
     where consumer > ? and ${rows} order by consumer, ready_at limit 1`,
    after,
  ) as { consumer: bigint; ready_at: bigint } | undefined;
  return row && { consumer: row.consumer, readyAt: Number(row.ready_at) };
}
