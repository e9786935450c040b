import type { SqliteClient } from "./client.js";

export type LaneFlow = "flowing" | "halted" | "parked";

/** A lane as a wide statement reads it. */
interface LaneColumns {
  readonly id: bigint;
  readonly endpoint: bigint;
  readonly key: string;
  readonly generation: bigint;
  readonly next_seq: bigint;
  readonly head_seq: bigint;
  readonly last_seq: bigint | null;
  readonly state: LaneFlow;
  readonly ready_at: bigint | null;
  readonly leased_by: string | null;
  readonly leased_at: bigint | null;
  readonly leased_until: bigint | null;
  readonly epoch: bigint;
  readonly attempts: bigint;
  readonly failures: bigint;
  readonly lapses: bigint;
  readonly run_len: bigint;
  readonly suspect_until: bigint | null;
  readonly intent: "skip" | null;
  readonly blocked_at: bigint | null;
}

/** Who takes something, and from when on for how long. */
export interface Leasing {
  readonly worker: string;
  readonly atMs: number;
  readonly leaseMs: number;
}

/** A lane during one turn: read once, changed here, written once. */
export class Lane {
  readonly id: bigint;
  readonly endpoint: bigint;
  readonly key: string;
  readonly generation: bigint;
  readonly nextSeq: bigint;
  headSeq: bigint;
  /** The last sequence before the head that was acknowledged. */
  lastSeq: bigint | null;
  state: LaneFlow;
  readyAt: number | null;
  leasedBy: string | null;
  leasedAt: number | null;
  leasedUntil: number | null;
  epoch: bigint;
  attempts: number;
  failures: number;
  lapses: number;
  runLen: number;
  suspectUntil: bigint | null;
  intent: "skip" | null;
  blockedAt: number | null;

  constructor(columns: LaneColumns) {
    this.id = columns.id;
    this.endpoint = columns.endpoint;
    this.key = columns.key;
    this.generation = columns.generation;
    this.nextSeq = columns.next_seq;
    this.headSeq = columns.head_seq;
    this.lastSeq = columns.last_seq;
    this.state = columns.state;
    this.readyAt = numberOrNull(columns.ready_at);
    this.leasedBy = columns.leased_by;
    this.leasedAt = numberOrNull(columns.leased_at);
    this.leasedUntil = numberOrNull(columns.leased_until);
    this.epoch = columns.epoch;
    this.attempts = Number(columns.attempts);
    this.failures = Number(columns.failures);
    this.lapses = Number(columns.lapses);
    this.runLen = Number(columns.run_len);
    this.suspectUntil = columns.suspect_until;
    this.intent = columns.intent;
    this.blockedAt = numberOrNull(columns.blocked_at);
  }

  get isEmpty(): boolean {
    return this.headSeq === this.nextSeq;
  }

  /** Whether its head may be claimed once it is due. */
  get flows(): boolean {
    return this.state === "flowing" && !this.isEmpty;
  }

  /** Moves the head on; the next one begins with nothing tried. */
  advance(count: number): void {
    this.headSeq += BigInt(count);
    this.intent = null;
    this.blockedAt = null;
    this.state = "flowing";
    this.beginRound();
  }

  beginRound(): void {
    this.attempts = 0;
    this.failures = 0;
    this.lapses = 0;
  }

  /** Ends its lease; it is due at that time, unless nothing is to be sent. */
  arm(atMs: number): void {
    this.leasedBy = null;
    this.leasedAt = null;
    this.leasedUntil = null;
    this.runLen = 0;
    this.readyAt = this.flows ? atMs : null;
  }

  stop(state: "halted" | "parked"): void {
    this.state = state;
    this.arm(0);
  }

  lease({ worker, atMs, leaseMs }: Leasing, runLen: number): void {
    this.epoch += 1n;
    this.leasedBy = worker;
    this.leasedAt = atMs;
    this.leasedUntil = atMs + Math.ceil(leaseMs);
    this.readyAt = this.leasedUntil;
    this.runLen = runLen;
  }
}

export function readLane(client: SqliteClient, id: bigint): Lane | undefined {
  const row = client.getWide("select * from posthorn_lane where id = ?", id) as LaneColumns | undefined;
  return row && new Lane(row);
}

/** The lanes of one endpoint that are due, longest waiting first; those that must run alone are not among them. */
export function dueLanes(
  client: SqliteClient,
  { endpoint, nowMs, limit }: { readonly endpoint: bigint; readonly nowMs: number; readonly limit: number },
): Lane[] {
  const rows = client.allWide(
    // `limit +?` here and in the other hot statements: SQLite's planner looks at a bare parameter there, and drivers
    // built with STAT4 prepare the statement anew for each of its values, which made it five times as slow.
    `select * from posthorn_lane where endpoint = ? and ready_at <= ? and lapses < 3 order by ready_at limit +?`,
    endpoint,
    nowMs,
    limit,
  ) as LaneColumns[];
  return rows.map((row) => new Lane(row));
}

/** Lanes that have lapsed so often that nothing may run beside them, due at endpoints that are active. */
export function lapsedLanes(client: SqliteClient, nowMs: number, limit: number): Lane[] {
  const rows = client.allWide(
    `select l.* from posthorn_lane l join posthorn_endpoint e on e.id = l.endpoint
     where l.lapses >= 3 and l.ready_at <= ? and e.state = 'active' and e.removed_at is null
     order by l.ready_at limit +?`,
    nowMs,
    limit,
  ) as LaneColumns[];
  return rows.map((row) => new Lane(row));
}

export function leasedLanes(client: SqliteClient, worker: string): Lane[] {
  const rows = client.allWide("select * from posthorn_lane where leased_by = ?", worker) as LaneColumns[];
  return rows.map((row) => new Lane(row));
}

/** Writes a lane as it has become. `next_seq` is left alone: only `places.ts` gives sequences away. */
export function saveLane(client: SqliteClient, lane: Lane): void {
  client.run(
    `update posthorn_lane set head_seq = ?, last_seq = ?, state = ?, ready_at = ?, leased_by = ?, leased_at = ?,
       leased_until = ?, epoch = ?, attempts = ?, failures = ?, lapses = ?, run_len = ?, suspect_until = ?, intent = ?, blocked_at = ?
     where id = ?`,
    lane.headSeq,
    lane.lastSeq,
    lane.state,
    lane.readyAt,
    lane.leasedBy,
    lane.leasedAt,
    lane.leasedUntil,
    lane.epoch,
    lane.attempts,
    lane.failures,
    lane.lapses,
    lane.runLen,
    lane.suspectUntil,
    lane.intent,
    lane.blockedAt,
    lane.id,
  );
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
