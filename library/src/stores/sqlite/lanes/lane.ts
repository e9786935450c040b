import type { SqliteClient } from "../client/client.js";

export type LaneFlow = "flowing" | "halted" | "parked";

// In one column: naming twenty of them in an object costs the driver more than the row costs SQLite. Whatever could be
// above 2^53 comes as text.
const LANE = `json_array(l.id || '', l.endpoint || '', l.key, l.generation || '', l.next_seq || '', l.head_seq || '',
  l.last_seq || '', l.state, l.ready_at, l.leased_by, l.leased_at, l.leased_until, l.epoch || '', l.attempts, l.failures,
  l.lapses, l.run_len, l.suspect_until || '', l.intent, l.blocked_at) as lane`;

interface LaneColumn {
  /** What `LANE` makes. */
  readonly lane: string;
}

type LaneValues = readonly [
  id: string,
  endpoint: string,
  key: string,
  generation: string,
  nextSeq: string,
  headSeq: string,
  lastSeq: string | null,
  state: LaneFlow,
  readyAt: number | null,
  leasedBy: string | null,
  leasedAt: number | null,
  leasedUntil: number | null,
  epoch: string,
  attempts: number,
  failures: number,
  lapses: number,
  runLen: number,
  suspectUntil: string | null,
  intent: "skip" | null,
  blockedAt: number | null,
];

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

  constructor({ lane }: LaneColumn) {
    const values = JSON.parse(lane) as LaneValues;
    this.id = BigInt(values[0]);
    this.endpoint = BigInt(values[1]);
    this.key = values[2];
    this.generation = BigInt(values[3]);
    this.nextSeq = BigInt(values[4]);
    this.headSeq = BigInt(values[5]);
    this.lastSeq = values[6] === null ? null : BigInt(values[6]);
    this.state = values[7];
    this.readyAt = values[8];
    this.leasedBy = values[9];
    this.leasedAt = values[10];
    this.leasedUntil = values[11];
    this.epoch = BigInt(values[12]);
    this.attempts = values[13];
    this.failures = values[14];
    this.lapses = values[15];
    this.runLen = values[16];
    this.suspectUntil = values[17] === null ? null : BigInt(values[17]);
    this.intent = values[18];
    this.blockedAt = values[19];
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
  const row = client.get(`select ${LANE} from posthorn_lane l where l.id = ?`, id) as LaneColumn | undefined;
  return row && new Lane(row);
}

/** The lanes of one endpoint that are due, longest waiting first; those that must run alone are not among them. */
export function dueLanes(
  client: SqliteClient,
  { endpoint, nowMs, limit }: { readonly endpoint: bigint; readonly nowMs: number; readonly limit: number },
): Lane[] {
  const rows = client.all(
    // `limit +?` here and in the other hot statements: SQLite's planner looks at a bare parameter there, and drivers
    // built with STAT4 prepare the statement anew for each of its values, which made it five times as slow.
    `select ${LANE} from posthorn_lane l
     where l.endpoint = ? and l.ready_at <= ? and l.lapses < 3 order by l.ready_at limit +?`,
    endpoint,
    nowMs,
    limit,
  ) as LaneColumn[];
  return rows.map((row) => new Lane(row));
}

/** Lanes that have lapsed so often that nothing may run beside them, due at endpoints that are active. */
export function lapsedLanes(client: SqliteClient, nowMs: number, limit: number): Lane[] {
  const rows = client.all(
    `select ${LANE} from posthorn_lane l join posthorn_endpoint e on e.id = l.endpoint
     where l.lapses >= 3 and l.ready_at <= ? and e.state = 'active' and e.removed_at is null
     order by l.ready_at limit +?`,
    nowMs,
    limit,
  ) as LaneColumn[];
  return rows.map((row) => new Lane(row));
}

export function leasedLanes(client: SqliteClient, worker: string): Lane[] {
  const rows = client.all(
    `select ${LANE} from posthorn_lane l where l.leased_by = ?`,
    worker,
  ) as LaneColumn[];
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
