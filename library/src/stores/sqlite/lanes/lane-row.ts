import type { Lane, Lease } from "../../../lanes/lane.js";
import { BRIEF } from "../../../lanes/brief.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { Claimable } from "../../../lanes/lane-store.js";
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

/** The columns of `LANE`, in their order. */
type LaneColumns = readonly [
  id: bigint,
  consumer: bigint,
  key: string,
  generation: bigint,
  nextSeq: bigint,
  headSeq: bigint,
  lastSeq: bigint | null,
  state: Lane["state"],
  readyAt: bigint | null,
  leasedBy: string | null,
  leasedAt: bigint | null,
  leasedUntil: bigint | null,
  epoch: bigint,
  attempts: bigint,
  failures: bigint,
  lapses: bigint,
  runLen: bigint,
  suspectUntil: bigint | null,
  intent: "skip" | null,
  blockedAt: bigint | null,
  /** Of the head; null where there is none. */
  event: bigint | null,
  round: bigint | null,
];

const LANE_COLUMNS = `l.id, l.consumer, l.key, l.generation, l.next_seq, l.head_seq, l.last_seq, l.state, l.ready_at,
    l.leased_by, l.leased_at, l.leased_until, l.epoch, l.attempts, l.failures, l.lapses, l.run_len, l.suspect_until,
    l.intent, l.blocked_at, d.event, d.round`;

function laneSql(lanes: string): string {
  return `select ${LANE_COLUMNS} from ${lanes} left join posthorn_delivery d on d.lane = l.id and d.seq = l.head_seq`;
}

const LANE = laneSql("posthorn_lane l");

/** The columns of `LOOSE`, in their order. */
type LooseColumns = readonly [
  id: bigint,
  consumer: bigint,
  event: bigint,
  round: bigint,
  readyAt: bigint | null,
  leasedBy: string | null,
  leasedAt: bigint | null,
  leasedUntil: bigint | null,
  epoch: bigint,
  attempts: bigint,
  failures: bigint,
  lapses: bigint,
];

const LOOSE = `select l.id, l.consumer, l.event, l.round, l.ready_at, l.leased_by, l.leased_at, l.leased_until, l.epoch,
    l.attempts, l.failures, l.lapses
  from posthorn_loose_delivery l`;

export function readRow(client: SqliteClient, kind: Lane["kind"], id: bigint): LaneRow | undefined {
  const rows =
    kind === "lane" ? readLanes(client, "where l.id = ?", id) : readLoose(client, "where l.id = ?", id);
  return rows[0];
}

/** The rows of both kinds that a condition on `l` finds, each kind in the order that the condition ends with. */
function readRows(client: SqliteClient, which: string, ...values: SqliteValue[]): LaneRow[] {
  return [...readLanes(client, which, ...values), ...readLoose(client, which, ...values)];
}

function readLanes(client: SqliteClient, which: string, ...values: SqliteValue[]): LaneRow[] {
  return (client.arraysWide(`${LANE} ${which}`, ...values) as LaneColumns[]).map(laneRowOf);
}

function readLoose(client: SqliteClient, which: string, ...values: SqliteValue[]): LaneRow[] {
  return (client.arraysWide(`${LOOSE} ${which}`, ...values) as LooseColumns[]).map(looseRowOf);
}

/** Whether a lane is brief, as the index of brief lanes says it. */
export function isBriefSql(lane: string): string {
  return `${lane}.next_seq - ${lane}.head_seq <= ${BRIEF}`;
}

function whichAreDue(more = ""): string {
  // `limit +?` here and in the other hot statements: SQLite's planner looks at a bare parameter there, and drivers built
  // with STAT4 prepare the statement again for each of its values, which made it five times as slow.
  return `where l.consumer = ? and l.ready_at <= ? and l.lapses < ${LAPSES_BEFORE_ALONE}${more} order by l.ready_at limit +?`;
}

const DUE_LANES = `${LANE} ${whichAreDue()}`;
// Without its name, SQLite takes the index of all lanes, and reads past every lane that is not brief.
const DUE_BRIEF = `${laneSql("posthorn_lane l indexed by posthorn_lane_brief")} ${whichAreDue(` and ${isBriefSql("l")}`)}`;

/** Which lanes are wanted of one consumer, and how many. */
export interface DueWish {
  readonly consumer: bigint;
  readonly nowMs: number;
  readonly limit: number;
  readonly brief: boolean | undefined;
}

/** What is due at one consumer, longest waiting first. What must run alone is not among it. */
export function dueRows(client: SqliteClient, { consumer, nowMs, limit, brief }: DueWish): LaneRow[] {
  const values = [consumer, nowMs, limit];
  const lanes = client.arraysWide(brief ? DUE_BRIEF : DUE_LANES, ...values) as LaneColumns[];
  const rows = [...lanes.map(laneRowOf), ...readLoose(client, whichAreDue(), ...values)];
  return rows.toSorted((left, right) => (left.readyAt ?? 0) - (right.readyAt ?? 0)).slice(0, limit);
}

/** Whose lapsed lanes are wanted, and how many. */
export interface LapsedWish {
  readonly of: Claimable;
  readonly nowMs: number;
  readonly limit: number;
}

/** What has lapsed so often that nothing may run beside it, due at active consumers whose lanes the worker takes. */
export function lapsedRows(client: SqliteClient, { of, nowMs, limit }: LapsedWish): LaneRow[] {
  return readRows(
    client,
    // `isClaimable` in SQL: beyond the limit, lanes would wait behind those of consumers that no worker has.
    `join posthorn_consumer c on c.id = l.consumer
     where l.lapses >= ${LAPSES_BEFORE_ALONE} and l.ready_at <= ? and c.removed_at is null
       and (c.state = 'active' or c.state = 'paused' and c.paused_until <= ?)
       and c.kind = ? and (c.kind = 'endpoint' or c.public_id in (select value from json_each(?)))
     order by l.ready_at limit +?`,
    nowMs,
    nowMs,
    of.kind,
    JSON.stringify(of.kind === "handler" ? of.ids : []),
    limit,
  );
}

export function leasedRows(client: SqliteClient, worker: string): LaneRow[] {
  return readRows(client, "where l.leased_by = ?", worker);
}

function laneRowOf(columns: LaneColumns): LaneRow {
  const [
    id,
    consumer,
    key,
    generation,
    nextSeq,
    headSeq,
    lastSeq,
    state,
    readyAt,
    leasedBy,
    leasedAt,
    leasedUntil,
    epoch,
    attempts,
    failures,
    lapses,
    runLen,
    suspectUntil,
    intent,
    blockedAt,
    event,
    round,
  ] = columns;
  return {
    id,
    consumer,
    name: { generation, key },
    readyAt: numberOf(readyAt),
    leasedUntil: numberOf(leasedUntil),
    blockedAt: numberOf(blockedAt),
    headEvent: event ?? undefined,
    lane: {
      kind: "lane",
      state,
      epoch,
      head: headSeq,
      end: nextSeq,
      last: lastSeq ?? undefined,
      round: Number(round ?? 1n),
      attempts: Number(attempts),
      failures: Number(failures),
      lapses: Number(lapses),
      suspectUntil: suspectUntil ?? undefined,
      skipIntended: intent === "skip",
      blocked: blockedAt !== null,
      lease: leasedBy === null ? undefined : leaseOf(leasedAt, leasedUntil, runLen),
    },
  };
}

function looseRowOf(columns: LooseColumns): LaneRow {
  const [id, consumer, event, round, readyAt, leasedBy, leasedAt, leasedUntil, ...rest] = columns;
  const [epoch, attempts, failures, lapses] = rest;
  return {
    id,
    consumer,
    name: undefined,
    readyAt: numberOf(readyAt),
    leasedUntil: numberOf(leasedUntil),
    blockedAt: undefined,
    headEvent: event,
    lane: {
      kind: "loose",
      // A dead one has no ready time.
      state: readyAt === null ? "halted" : "flowing",
      epoch,
      head: 0n,
      end: 1n,
      last: undefined,
      round: Number(round),
      attempts: Number(attempts),
      failures: Number(failures),
      lapses: Number(lapses),
      suspectUntil: undefined,
      skipIntended: false,
      blocked: false,
      lease: leasedBy === null ? undefined : leaseOf(leasedAt, leasedUntil, 1n),
    },
  };
}

function leaseOf(leasedAt: bigint | null, leasedUntil: bigint | null, run: bigint): Lease {
  const startedMs = Number(leasedAt);
  return { startedAt: new Date(startedMs), durationMs: Number(leasedUntil) - startedMs, run: Number(run) };
}

function numberOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
