import type { HistoryWriter, OutboxUnderTest } from "posthorn/testing";
import { hashOf } from "./end-state.js";
import { refOf } from "./endpoint-server.js";
import type { HostOptions } from "./host.js";

/** A database with an outbox, seen by somebody who is neither the publisher nor a worker. */
export interface OutboxDatabase {
  readonly name: HostOptions["store"];
  /** What hosts are started with. */
  readonly options: HostOptions;
  /** For the operator: endpoints, dead letters. */
  readonly outbox: Omit<OutboxUnderTest<never>, "accept" | "apply">;
  /** The tables as they are now. */
  read(): Promise<OutboxRows>;
  /** How many deliveries wait for nothing but a worker. Cheap: it is asked again and again. */
  pending(): Promise<number>;
  /** How many lanes each worker has leased. */
  leases(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** The publisher's own table. No unique key: a row that was written twice must be two. */
export const BUSINESS_TABLE = "create table business (ref text not null)";

/** Rows as they were read. Numbers are the store's; sequences are texts. */
export interface OutboxRows {
  readonly events: readonly { readonly n: number; readonly wireId: string; readonly body: Uint8Array }[];
  readonly endpoints: readonly { readonly n: number; readonly id: string }[];
  readonly lanes: readonly LaneRow[];
  readonly deliveries: readonly DeliveryRow[];
  /** Those without a lane; a dead one is among the dead. */
  readonly loose: readonly {
    readonly n: number;
    readonly endpoint: number;
    readonly event: number;
    readonly round: number;
  }[];
  readonly attempts: readonly AttemptRow[];
  readonly ended: readonly EndedRow[];
  readonly business: readonly { readonly ref: string }[];
}

export interface LaneRow {
  readonly n: number;
  readonly endpoint: number;
  readonly key: string;
  readonly generation: string;
  readonly head: string;
  readonly state: string;
}

interface DeliveryRow {
  readonly lane: number;
  readonly seq: string;
  readonly event: number;
  readonly round: number;
}

/** `lane` is 0 where there is none, and `seq` names the delivery then. */
interface AttemptRow extends DeliveryRow {
  readonly no: number;
  readonly outcome: string;
  readonly startedAt: number;
  readonly durationMs: number;
}

interface EndedRow extends DeliveryRow {
  readonly endpoint: number;
  readonly state: "dead" | "redriven" | "cancelled";
  readonly because: string;
}

/** The endpoint that gets events without a lane: of their attempts the tables do not say where they went. */
export const LOOSE_ENDPOINT = "ep_key";

/** Writes the outbox to a history. The hashes are computed here, from the bytes that were read. */
export function writeOutbox(rows: OutboxRows, reader: HistoryWriter): void {
  const events = new Map(rows.events.map(({ n, body }) => [n, nameOf(body)]));
  const endpoints = new Map(rows.endpoints.map(({ n, id }) => [n, id]));
  const lanes = new Map(rows.lanes.map((lane) => [lane.n, lane]));
  const eventOf = (n: number) => events.get(n) ?? { tenant: "default", source: "app", id: `no event ${n}` };
  const placeIn = ({ lane, seq }: DeliveryRow) => {
    const { key = "", generation = "" } = lanes.get(lane) ?? {};
    return lane === 0 ? {} : { place: { key, generation, sequence: seq } };
  };
  const endpointOf = (lane: number): string => {
    if (lane === 0) return LOOSE_ENDPOINT;
    return endpoints.get(lanes.get(lane)?.endpoint ?? 0) ?? `no lane ${lane}`;
  };
  for (const { wireId, body } of rows.events)
    reader.see("event_row", { ...nameOf(body), bodyHash: hashOf(body), wireId });
  for (const { ref } of rows.business) reader.see("business_row", { ...NAME, id: ref });
  for (const { lane, event, round, no: number, outcome, startedAt, durationMs } of rows.attempts) {
    const attempt = { endpoint: endpointOf(lane), round, number, outcome, startedAt, durationMs };
    reader.see("attempt_row", { ...eventOf(event), ...attempt });
  }
  const dead = new Set(
    rows.ended.filter(({ state }) => state === "dead").map(({ lane, seq }) => `${lane}/${seq}`),
  );
  let deliveries = rows.ended.length;
  for (const row of rows.ended) {
    const { event, round, state, because } = row;
    const endpoint = endpoints.get(row.endpoint) ?? "";
    reader.see("delivery_row", { ...eventOf(event), endpoint, round, state, because, ...placeIn(row) });
  }
  const waiting = [
    ...rows.deliveries,
    ...rows.loose.map(({ n, event, round }) => ({ lane: 0, seq: String(n), event, round })),
  ];
  for (const row of waiting) {
    // A dead head stays in its lane: it is told above.
    if (dead.has(`${row.lane}/${row.seq}`)) continue;
    deliveries++;
    const { state } = lanes.get(row.lane) ?? {};
    const because = state === "flowing" ? undefined : state;
    const told = { endpoint: endpointOf(row.lane), round: row.round, state: "due" as const, because };
    reader.see("delivery_row", { ...eventOf(row.event), ...told, ...placeIn(row) });
  }
  const { events: written, attempts, business } = rows;
  reader.see("outbox_read", {
    events: written.length,
    attempts: attempts.length,
    business: business.length,
    deliveries,
  });
}

const NAME = { tenant: "default", source: "app" };

function nameOf(body: Uint8Array) {
  return { ...NAME, id: refOf(body) };
}
