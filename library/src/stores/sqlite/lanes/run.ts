import type { EventHeaders } from "../../../event-headers.js";
import type { ClaimedDelivery, RunLimits } from "../../../lanes/lane-store.js";
import type { LaneChange } from "../../../lanes/lane.js";
import { fittingRun } from "../../../lanes/lane.js";
import { readReceipt } from "../../../receipt.js";
import { plainBytes } from "../client/client.js";
import type { OutboxTurn } from "../outbox/turn.js";
import type { LaneRow } from "./lane-row.js";

/** On what terms a worker leases something. */
export interface LeaseTerms {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
}

interface RunColumns {
  readonly seq: bigint;
  readonly round: bigint;
  readonly public_id: string;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly content_type: string;
  readonly event_at: bigint;
  readonly expires_at: bigint | null;
  readonly headers: string | null;
  readonly receipt: string | null;
  readonly body: Uint8Array;
}

const EVENT = `e.public_id, e.tenant, e.source, e.type, e.content_type, e.event_at, e.expires_at, e.headers, e.receipt,
    e.body`;

/** What is to be sent of a lane as it is after the change, the head first; nothing where its head is missing. */
export function readRun(
  turn: OutboxTurn,
  row: LaneRow,
  change: LaneChange,
  limits: RunLimits,
): ClaimedDelivery[] {
  const rows = row.lane.kind === "lane" ? laneRun(turn, row, change, limits) : looseRun(turn, row);
  // Where an event is missing, the run ends before it: sent past it, the lane would be out of order.
  const gap = rows.findIndex(({ seq }, n) => seq !== change.head + BigInt(n));
  const unbroken = gap === -1 ? rows : rows.slice(0, gap);
  return unbroken.map((each) => claimedDelivery(each, turn.nowMs));
}

function laneRun(turn: OutboxTurn, row: LaneRow, change: LaneChange, limits: RunLimits): RunColumns[] {
  return turn.client.allWide(
    `select d.seq, d.round, ${EVENT} from posthorn_delivery d cross join posthorn_event e on e.id = d.event
     where d.lane = ? and d.seq >= ? and d.seq < ? order by d.seq`,
    row.id,
    change.head,
    change.head + runLength(turn, row, change, limits),
  ) as RunColumns[];
}

function looseRun({ client }: OutboxTurn, { headEvent, lane }: LaneRow): RunColumns[] {
  return client.allWide(
    `select 0 as seq, ? as round, ${EVENT} from posthorn_event e where e.id = ?`,
    lane.round,
    headEvent ?? null,
  ) as RunColumns[];
}

function runLength(
  { client }: OutboxTurn,
  { id, lane }: LaneRow,
  { head, leasable }: LaneChange,
  limits: RunLimits,
): bigint {
  if (leasable === "head" || lane.end - head === 1n) return 1n;
  // Their sizes first, which SQLite knows without reading the bodies: eight bodies of a megabyte would be read for one.
  const sizes = client.all(
    `select length(e.body) as bytes
     from posthorn_delivery d cross join posthorn_event e on e.id = d.event
     where d.lane = ? and d.seq >= ? order by d.seq limit +?`,
    id,
    head,
    limits.maxEvents,
  ) as { bytes: number }[];
  return BigInt(
    fittingRun(
      sizes.map(({ bytes }) => bytes),
      limits,
    ),
  );
}

function claimedDelivery(row: RunColumns, nowMs: number): ClaimedDelivery {
  const expiresAt = row.expires_at === null ? undefined : Number(row.expires_at);
  return {
    sequence: row.seq,
    round: Number(row.round),
    event: {
      id: row.public_id,
      tenant: row.tenant,
      source: row.source,
      type: row.type,
      body: plainBytes(row.body),
      contentType: row.content_type,
      time: new Date(Number(row.event_at)),
      headers: row.headers === null ? undefined : (JSON.parse(row.headers) as EventHeaders),
      receipt: row.receipt === null ? undefined : readReceipt(row.receipt),
    },
    expiresInMs: expiresAt === undefined ? undefined : expiresAt - nowMs,
  };
}
