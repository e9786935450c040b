import type { EventHeaders } from "../../../event-headers.js";
import type { Claim, ClaimedDelivery, RunLimits } from "../../../lanes/lane-store.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import { plainBytes } from "../client/client.js";
import { stopBroken } from "./lane-head.js";
import { saveLane } from "./lane.js";
import type { Lane } from "./lane.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** On what terms a worker takes something. */
export interface LeaseTerms {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
}

/** Leases a lane whose head is due, writes it, and returns what is to be sent; undefined where its head is missing. */
export function leaseLane(
  turn: OutboxTurn,
  lane: Lane,
  { endpoint, terms }: { readonly endpoint: Endpoint; readonly terms: LeaseTerms },
): Claim | undefined {
  const [head, ...rest] = readRun(turn, lane, terms.run);
  if (head === undefined) stopBroken(turn, lane);
  else lane.lease({ ...terms, atMs: turn.nowMs }, 1 + rest.length);
  saveLane(turn.client, lane);
  return (
    head && {
      kind: "lane",
      id: lane.id,
      epoch: lane.epoch,
      consumer: { id: endpoint.id, version: endpoint.version },
      lane: { generation: lane.generation, key: lane.key },
      after: lane.lastSeq ?? undefined,
      run: [head, ...rest],
      attempts: lane.attempts,
      failures: lane.failures,
    }
  );
}

/** The event `e` of a delivery, all but its body in one column; see lane.ts. */
export const EVENT_COLUMNS = `json_array(e.event_id, e.type, e.content_type, e.event_at, e.expires_at, json(e.headers)) as event,
  e.body`;

/** A delivery and the columns of its event. */
export interface RunColumns {
  /** Sequence and round. */
  readonly place: string;
  readonly event: string;
  readonly body: Uint8Array;
}

type EventValues = readonly [
  id: string,
  type: string,
  contentType: string,
  eventAt: number,
  expiresAt: number | null,
  headers: EventHeaders | null,
];

function readRun({ client, nowMs }: OutboxTurn, lane: Lane, limits: RunLimits): ClaimedDelivery[] {
  const rows = client.all(
    `select d.seq || ' ' || d.round as place, ${EVENT_COLUMNS}
     from posthorn_delivery d cross join posthorn_event e on e.id = d.event
     where d.lane = ? and d.seq >= ? and d.seq < ? order by d.seq`,
    lane.id,
    lane.headSeq,
    lane.headSeq + runLength({ client, lane, limits }),
  ) as RunColumns[];
  const run = rows.map((row) => claimedDelivery(row, nowMs));
  // The head itself may be missing while others are there.
  return run[0]?.sequence === lane.headSeq ? run : [];
}

function runLength({
  client,
  lane,
  limits,
}: Pick<OutboxTurn, "client"> & { readonly lane: Lane; readonly limits: RunLimits }): bigint {
  const waiting = lane.nextSeq - lane.headSeq;
  const tried = lane.attempts > 0;
  const suspect = lane.suspectUntil !== null && lane.headSeq < lane.suspectUntil;
  if (waiting === 1n || limits.maxEvents <= 1 || tried || suspect) return 1n;
  // Their sizes first, which SQLite knows without reading them: eight bodies of a megabyte would be read for one.
  const sizes = client.all(
    `select length(e.body) as bytes
     from posthorn_delivery d cross join posthorn_event e on e.id = d.event
     where d.lane = ? and d.seq >= ? order by d.seq limit +?`,
    lane.id,
    lane.headSeq,
    limits.maxEvents,
  ) as { bytes: number }[];
  let bytes = 0;
  const fitting = sizes.findIndex((each, index) => (bytes += each.bytes) > limits.maxBytes && index > 0);
  return BigInt(fitting === -1 ? sizes.length : fitting);
}

export function claimedDelivery({ place, event, body }: RunColumns, nowMs: number): ClaimedDelivery {
  const [sequence = "", round] = place.split(" ");
  const [id, type, contentType, eventAt, expiresAt, headers] = JSON.parse(event) as EventValues;
  const time = new Date(eventAt);
  return {
    sequence: BigInt(sequence),
    round: Number(round),
    event: { id, type, body: plainBytes(body), contentType, time, headers: headers ?? undefined },
    expiresInMs: expiresAt === null ? undefined : expiresAt - nowMs,
  };
}
