import type { AttemptRecord } from "../../library/src/lanes/attempt-record.js";
import type { DeadBecause } from "../../library/src/lanes/dead.js";
import { deliveryIdOf } from "../../library/src/lanes/delivery-id.js";
import type { DeadDelivery } from "../../library/src/lanes/dead.js";
import type { LaneState, Lease } from "../../library/src/lanes/lane.js";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import type { Arrival, InboxOutcome } from "../../library/src/inbox/inbox-store.js";
import type { Endpoint } from "../../library/src/outbox/endpoint.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import type { CancelledRecord } from "../../library/src/testing/conformance/outbox/harness.js";

export interface EventRow extends OutgoingEvent {
  readonly rowId: bigint;
}

/** An event that has no places yet; redriven ones name their endpoint. */
export interface StageRow {
  readonly event: EventRow;
  readonly target: string | undefined;
  readonly round: number;
}

export interface DeliveryRow {
  readonly event: EventRow;
  readonly sequence: bigint;
  readonly round: number;
}

export interface LeaseRow extends Lease {
  readonly worker: string;
  readonly endsAt: number;
}

/** A lane with its deliveries, the head first; a delivery without a lane is one that has no key and holds nothing else. */
export interface LaneRow {
  readonly kind: Claim["kind"];
  readonly id: bigint;
  readonly endpointId: string;
  readonly key: string | undefined;
  generation: bigint;
  deliveries: DeliveryRow[];
  head: bigint;
  last: bigint | undefined;
  state: LaneState;
  readyAt: number | undefined;
  lease: LeaseRow | undefined;
  epoch: bigint;
  attempts: number;
  failures: number;
  lapses: number;
  suspectUntil: bigint | undefined;
  skipIntended: boolean;
  blockedAt: number | undefined;
}

export interface DeadRow {
  readonly id: string;
  readonly number: number;
  readonly laneKey: string;
  readonly lane: Pick<LaneRow, "kind" | "endpointId" | "key">;
  readonly delivery: DeliveryRow;
  readonly because: DeadBecause;
  readonly diedAtMs: number;
  readonly attempts: number;
  readonly last: DeadDelivery["last"];
  /** An operator has passed over it: it is listed no more, and can still be redriven. */
  readonly skipped: boolean;
}

export interface InboxLine extends Arrival {
  readonly outcome: InboxOutcome;
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly attempts: number;
  readonly receipts: number;
  readonly receivedAtMs: number;
  readonly lastReceivedAtMs: number;
  readonly keepUntilMs: number | undefined;
}

/** All that the model store holds, as plain data: a copy of it is what a disk has. */
export interface Rows {
  nextRow: bigint;
  nextLane: bigint;
  /** The generation of new lanes; it grows whenever lanes are removed. */
  generation: bigint;
  died: number;
  /** The endpoint that was served last. */
  served: string;
  sequencedTo: bigint;
  stage: StageRow[];
  later: EventRow[];
  cancelled: CancelledRecord[];
  readonly ids: Map<string, Uint8Array>;
  readonly endpoints: Map<string, Endpoint>;
  readonly stoppedAt: Map<string, number>;
  readonly lanes: Map<string, LaneRow>;
  readonly laneOf: Map<string, string>;
  readonly attempts: Map<string, AttemptRecord[]>;
  readonly dead: Map<string, DeadRow>;
  readonly inbox: Map<string, InboxLine>;
  readonly host: Map<string, number>;
}

export function noRows(): Rows {
  return {
    nextRow: 1n,
    nextLane: 1n,
    generation: 1n,
    died: 0,
    served: "",
    sequencedTo: 0n,
    stage: [],
    later: [],
    cancelled: [],
    ids: new Map(),
    endpoints: new Map(),
    stoppedAt: new Map(),
    lanes: new Map(),
    laneOf: new Map(),
    attempts: new Map(),
    dead: new Map(),
    inbox: new Map(),
    host: new Map(),
  };
}

/** A copy that shares only what never changes. */
export function copyRows(rows: Rows): Rows {
  return {
    ...rows,
    stage: [...rows.stage],
    later: [...rows.later],
    cancelled: [...rows.cancelled],
    ids: new Map(rows.ids),
    endpoints: new Map(rows.endpoints),
    stoppedAt: new Map(rows.stoppedAt),
    lanes: new Map(
      [...rows.lanes].map(([key, lane]) => [key, { ...lane, deliveries: [...lane.deliveries] }]),
    ),
    laneOf: new Map(rows.laneOf),
    attempts: new Map([...rows.attempts].map(([id, attempts]) => [id, [...attempts]])),
    dead: new Map(rows.dead),
    inbox: new Map(rows.inbox),
    host: new Map(rows.host),
  };
}

export function laneKeyOf({ kind, id }: Pick<Claim, "kind" | "id">): string {
  return `${kind} ${id}`;
}

/** As people name it. */
export function deliveryNameOf({ kind, id }: Pick<LaneRow, "kind" | "id">, sequence: bigint): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}
