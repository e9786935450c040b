import type { Lane, Lease } from "../../../lanes/lane.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { SqliteClient, SqliteValue } from "../client/client.js";

/** A lane, or a delivery without one, as its row has it. */
export interface LaneRow {
  readonly id: bigint;
  /** The number of the consumer to which it leads. */
  readonly consumer: bigint;
  /** Undefined where there is no lane. */
  readonly name: { readonly generation: bigint; readonly key: string } | undefined;
  /** What the rule is asked about. */
  readonly lane: Lane;
  readonly readyAt: number | undefined;
  readonly leasedUntil: number | undefined;
  readonly blockedAt: number | undefined;
  /** The head's event; undefined where the lane is empty, or its head is missing. */
  readonly headEvent: bigint | undefined;
}

interface LeaseColumns {
  readonly leased_by: string | null;
  readonly leased_at: bigint | null;
  readonly leased_until: bigint | null;
}

interface LooseColumns extends LeaseColumns {
  readonly id: bigint;
  readonly consumer: bigint;
  readonly event: bigint;
  readonly round: bigint;
  readonly ready_at: bigint | null;
  readonly epoch: bigint;
  readonly attempts: bigint;
  readonly failures: bigint;
  readonly lapses: bigint;
}

interface LaneColumns extends Omit<LooseColumns, "event" | "round"> {
  readonly key: string;
  readonly generation: bigint;
  readonly next_seq: bigint;
  readonly head_seq: bigint;
  readonly last_seq: bigint | null;
  readonly state: Lane["state"];
  readonly run_len: bigint;
  readonly suspect_until: bigint | null;
  readonly intent: "skip" | null;
  readonly blocked_at: bigint | null;
  /** Of the head; null where there is none. */
  readonly event: bigint | null;
  readonly round: bigint | null;
}

const LANE = `select l.id, l.consumer, l.key, l.generation, l.next_seq, l.head_seq, l.last_seq, l.state, l.ready_at,
    l.leased_by, l.leased_at, l.leased_until, l.epoch, l.attempts, l.failures, l.lapses, l.run_len, l.suspect_until,
    l.intent, l.blocked_at, d.event, d.round
  from posthorn_lane l left join posthorn_delivery d on d.lane = l.id and d.seq = l.head_seq`;
const LOOSE = `select l.id, l.consumer, l.event, l.round, l.ready_at, l.leased_by, l.leased_at, l.leased_until, l.epoch,
    l.attempts, l.failures, l.lapses
  from posthorn_loose_delivery l`;

/** The rows of both kinds that a condition on `l` finds, each kind in the order that the condition ends with. */
function readRows(client: SqliteClient, which: string, ...values: SqliteValue[]): LaneRow[] {
  const lanes = client.allWide(`${LANE} ${which}`, ...values) as LaneColumns[];
  const loose = client.allWide(`${LOOSE} ${which}`, ...values) as LooseColumns[];
  return [...lanes.map(laneRowOf), ...loose.map(looseRowOf)];
}

export function readRow(client: SqliteClient, kind: Lane["kind"], id: bigint): LaneRow | undefined {
  if (kind === "loose") {
    const loose = client.getWide(`${LOOSE} where l.id = ?`, id) as LooseColumns | undefined;
    return loose && looseRowOf(loose);
  }
  const lane = client.getWide(`${LANE} where l.id = ?`, id) as LaneColumns | undefined;
  return lane && laneRowOf(lane);
}

/** What is due at one consumer, longest waiting first. What must run alone is not among it. */
export function dueRows(
  client: SqliteClient,
  { consumer, nowMs, limit }: { readonly consumer: bigint; readonly nowMs: number; readonly limit: number },
): LaneRow[] {
  const rows = readRows(
    client,
    // `limit +?` here and in the other hot statements: SQLite's planner looks at a bare parameter there, and drivers
    // built with STAT4 prepare the statement again for each of its values, which made it five times as slow.
    `where l.consumer = ? and l.ready_at <= ? and l.lapses < ${LAPSES_BEFORE_ALONE} order by l.ready_at limit +?`,
    consumer,
    nowMs,
    limit,
  );
  return rows.toSorted((left, right) => (left.readyAt ?? 0) - (right.readyAt ?? 0)).slice(0, limit);
}

/** What has lapsed so often that nothing may run beside it, due at active consumers. */
export function lapsedRows(client: SqliteClient, nowMs: number, limit: number): LaneRow[] {
  return readRows(
    client,
    `join posthorn_consumer c on c.id = l.consumer
     where l.lapses >= ${LAPSES_BEFORE_ALONE} and l.ready_at <= ? and c.state = 'active' and c.removed_at is null
     order by l.ready_at limit +?`,
    nowMs,
    limit,
  );
}

export function leasedRows(client: SqliteClient, worker: string): LaneRow[] {
  return readRows(client, "where l.leased_by = ?", worker);
}

function laneRowOf(columns: LaneColumns): LaneRow {
  return {
    ...shared(columns),
    name: { generation: columns.generation, key: columns.key },
    blockedAt: numberOf(columns.blocked_at),
    headEvent: columns.event ?? undefined,
    lane: {
      kind: "lane",
      state: columns.state,
      epoch: columns.epoch,
      head: columns.head_seq,
      end: columns.next_seq,
      last: columns.last_seq ?? undefined,
      round: Number(columns.round ?? 1n),
      attempts: Number(columns.attempts),
      failures: Number(columns.failures),
      lapses: Number(columns.lapses),
      suspectUntil: columns.suspect_until ?? undefined,
      skipIntended: columns.intent === "skip",
      blocked: columns.blocked_at !== null,
      lease: leaseOf(columns, columns.run_len),
    },
  };
}

function looseRowOf(columns: LooseColumns): LaneRow {
  return {
    ...shared(columns),
    name: undefined,
    blockedAt: undefined,
    headEvent: columns.event,
    lane: {
      kind: "loose",
      // A dead one has no ready time.
      state: columns.ready_at === null ? "halted" : "flowing",
      epoch: columns.epoch,
      head: 0n,
      end: 1n,
      last: undefined,
      round: Number(columns.round),
      attempts: Number(columns.attempts),
      failures: Number(columns.failures),
      lapses: Number(columns.lapses),
      suspectUntil: undefined,
      skipIntended: false,
      blocked: false,
      lease: leaseOf(columns, 1n),
    },
  };
}

function shared(
  columns: LaneColumns | LooseColumns,
): Pick<LaneRow, "id" | "consumer" | "readyAt" | "leasedUntil"> {
  const { id, consumer, ready_at, leased_until } = columns;
  return { id, consumer, readyAt: numberOf(ready_at), leasedUntil: numberOf(leased_until) };
}

function leaseOf({ leased_by, leased_at, leased_until }: LeaseColumns, run: bigint): Lease | undefined {
  if (leased_by === null) return undefined;
  const startedMs = Number(leased_at);
  return { startedAt: new Date(startedMs), durationMs: Number(leased_until) - startedMs, run: Number(run) };
}

function numberOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
