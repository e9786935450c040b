import type { Claim } from "../../../lanes/lane-store.js";
import type { DeadBecause } from "../../../lanes/dead.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import { insertAttempt, lapsedAttempt } from "../operator/attempts.js";
import type { SqliteClient } from "../client/client.js";
import type { EndedDelivery } from "./record-ended.js";
import { insertDead } from "./record-ended.js";
import type { Leasing } from "./lane.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { claimedDelivery, EVENT_COLUMNS } from "./run.js";
import type { LeaseTerms, RunColumns } from "./run.js";

interface LooseColumns {
  readonly id: bigint;
  readonly endpoint: bigint;
  readonly event: bigint;
  readonly round: bigint;
  readonly ready_at: bigint | null;
  readonly leased_by: string | null;
  readonly leased_at: bigint | null;
  readonly leased_until: bigint | null;
  readonly epoch: bigint;
  readonly attempts: bigint;
  readonly failures: bigint;
  readonly lapses: bigint;
}

/** A delivery without a lane during one turn: read once, changed here, written once. A dead one has no ready time. */
export class Loose {
  readonly id: bigint;
  readonly endpoint: bigint;
  readonly event: bigint;
  round: number;
  readyAt: number | null;
  leasedBy: string | null;
  leasedAt: number | null;
  leasedUntil: number | null;
  epoch: bigint;
  attempts: number;
  failures: number;
  lapses: number;

  constructor(columns: LooseColumns) {
    this.id = columns.id;
    this.endpoint = columns.endpoint;
    this.event = columns.event;
    this.round = Number(columns.round);
    this.readyAt = columns.ready_at === null ? null : Number(columns.ready_at);
    this.leasedBy = columns.leased_by;
    this.leasedAt = columns.leased_at === null ? null : Number(columns.leased_at);
    this.leasedUntil = columns.leased_until === null ? null : Number(columns.leased_until);
    this.epoch = columns.epoch;
    this.attempts = Number(columns.attempts);
    this.failures = Number(columns.failures);
    this.lapses = Number(columns.lapses);
  }

  /** Ends its lease; it is due at that time, or never. */
  arm(atMs: number | null): void {
    this.leasedBy = null;
    this.leasedAt = null;
    this.leasedUntil = null;
    this.readyAt = atMs;
  }

  lease({ worker, atMs, leaseMs }: Leasing): void {
    this.epoch += 1n;
    this.leasedBy = worker;
    this.leasedAt = atMs;
    this.leasedUntil = atMs + Math.ceil(leaseMs);
    this.readyAt = this.leasedUntil;
  }

  get ended(): EndedDelivery {
    const { id: seq, event, round, endpoint, attempts } = this;
    return { lane: 0n, seq, event, round, endpoint, attempts };
  }
}

export function readLoose(client: SqliteClient, id: bigint): Loose | undefined {
  const row = client.getWide("select * from posthorn_loose_delivery where id = ?", id) as
    | LooseColumns
    | undefined;
  return row && new Loose(row);
}

export function dueLoose(
  client: SqliteClient,
  { endpoint, nowMs, limit }: { readonly endpoint: bigint; readonly nowMs: number; readonly limit: number },
): Loose[] {
  const rows = client.allWide(
    `select * from posthorn_loose_delivery
     where endpoint = ? and ready_at <= ? and lapses < 3 order by ready_at limit +?`,
    endpoint,
    nowMs,
    limit,
  ) as LooseColumns[];
  return rows.map((row) => new Loose(row));
}

/** As `lapsedLanes`, of deliveries without a lane. */
export function lapsedLoose(client: SqliteClient, nowMs: number, limit: number): Loose[] {
  const rows = client.allWide(
    `select d.* from posthorn_loose_delivery d join posthorn_endpoint e on e.id = d.endpoint
     where d.lapses >= 3 and d.ready_at <= ? and e.state = 'active' and e.removed_at is null
     order by d.ready_at limit +?`,
    nowMs,
    limit,
  ) as LooseColumns[];
  return rows.map((row) => new Loose(row));
}

export function leasedLoose(client: SqliteClient, worker: string): Loose[] {
  const rows = client.allWide(
    "select * from posthorn_loose_delivery where leased_by = ?",
    worker,
  ) as LooseColumns[];
  return rows.map((row) => new Loose(row));
}

export function saveLoose(client: SqliteClient, loose: Loose): void {
  client.run(
    `update posthorn_loose_delivery set round = ?, ready_at = ?, leased_by = ?, leased_at = ?, leased_until = ?,
       epoch = ?,        attempts = ?, failures = ?, lapses = ?
     where id = ?`,
    loose.round,
    loose.readyAt,
    loose.leasedBy,
    loose.leasedAt,
    loose.leasedUntil,
    loose.epoch,
    loose.attempts,
    loose.failures,
    loose.lapses,
    loose.id,
  );
}

export function removeLoose(client: SqliteClient, id: bigint): void {
  client.run("delete from posthorn_loose_delivery where id = ?", id);
}

/** Gives it up; its row stays, so that a redrive goes on under the next epoch. */
export function buryLoose(turn: OutboxTurn, loose: Loose, because: DeadBecause): void {
  insertDead(turn, loose.ended, because);
  loose.arm(null);
}

export function noteLooseLapse(turn: OutboxTurn, loose: Loose): void {
  loose.attempts++;
  loose.lapses++;
  const { id: seq, event, round, attempts: number } = loose;
  const place = { lane: 0n, seq, event };
  insertAttempt(turn.client, place, lapsedAttempt({ sequence: 0n, round, number }, loose));
  loose.arm(turn.nowMs);
}

/** Leases it, writes it, and returns what is to be sent. */
export function leaseLoose(
  { client, nowMs }: OutboxTurn,
  loose: Loose,
  { endpoint, terms }: { readonly endpoint: Endpoint; readonly terms: LeaseTerms },
): Claim | undefined {
  const row = client.get(
    `select '0 ' || ? as place, ${EVENT_COLUMNS} from posthorn_event e where e.id = ?`,
    BigInt(loose.round),
    loose.event,
  ) as RunColumns | undefined;
  if (row === undefined) {
    // Somebody has changed the tables by hand; left as it is, it would be due again at once, for ever.
    loose.arm(null);
    return undefined;
  }
  loose.lease({ ...terms, atMs: nowMs });
  saveLoose(client, loose);
  return {
    kind: "loose",
    id: loose.id,
    epoch: loose.epoch,
    consumer: { id: endpoint.id, version: endpoint.version },
    lane: undefined,
    after: undefined,
    run: [claimedDelivery(row, nowMs)],
    attempts: loose.attempts,
    failures: loose.failures,
  };
}
