import { decodeHex } from "../../bytes.js";
import type { Claim, ClaimedDelivery } from "../../delivery/delivery-store.js";
import type { DeadPolicy, EndpointState } from "../../outbox/endpoint.js";
import type { Row } from "./database.js";
import type { OutboxTables } from "./outbox-tables.js";

/** A lane, or a delivery without one, as it was when it was locked. A loose delivery is a lane that holds nothing else. */
export interface LockedRow {
  readonly kind: Claim["kind"];
  readonly id: bigint;
  readonly epoch: bigint;
  readonly head: bigint;
  /** The first sequence that is free. */
  readonly end: bigint;
  readonly last: bigint | undefined;
  readonly attempts: number;
  readonly failures: number;
  readonly lapses: number;
  /** How many deliveries its last claim had. */
  readonly runLength: number;
  readonly suspectUntil: bigint | undefined;
  readonly skipIntended: boolean;
  /** Undefined where nobody has it. */
  readonly leasedUntilMs: number | undefined;
  readonly endpoint: {
    readonly number: bigint;
    readonly id: string;
    readonly version: number;
    readonly state: EndpointState;
    readonly dead: DeadPolicy | undefined;
  };
  readonly lane: Claim["lane"];
  /** The deliveries that were asked for, in order. */
  readonly run: readonly ClaimedDelivery[];
}

/**
 * Reads what was locked, with its endpoint, its name and a run of its deliveries. `locked` is a subquery with the
 * columns n (its place in the answer), kind, id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures,
 * lapses, run_len, suspect_until, intent, leased_until, event_id, round, run_from (null: no run) and run_max.
 * `maxBytes` is the parameter of the run's limit; the head is read whatever its size.
 */
export function readLockedSql(locked: string, maxBytes: string, tables: OutboxTables): string {
  const { endpoint, lane, delivery, event } = tables;
  return `
    select locked.n::text, kind, locked.id::text, locked.epoch::text, head_seq::text, next_seq::text, last_seq::text,
      attempts::text, failures::text, lapses::text, run_len::text, suspect_until::text, intent,
      (extract(epoch from leased_until) * 1000)::int8::text, locked.endpoint_id::text, place.public_id,
      place.version::text, place.state, place.dead, named.generation::text, named.key,
      run.seq::text, run.round::text, run.public_id, run.type, encode(run.body, 'hex'), run.content_type,
      (extract(epoch from run.event_at) * 1000)::int8::text,
      (extract(epoch from run.expires_at - clock_timestamp()) * 1000)::int8::text
    from ${locked} as locked
    cross join lateral (
      select public_id, version, state, dead from ${endpoint} as endpoint
      where endpoint.id = locked.endpoint_id limit 1
    ) as place
    left join lateral (
      select generation, key from ${lane} as lane where locked.kind = 'lane' and lane.lane_id = locked.id limit 1
    ) as named on true
    left join lateral (
      select placed.seq, placed.round, published.*, row_number() over (order by placed.seq) as nth,
        sum(octet_length(published.body)) over (order by placed.seq) as bytes
      from (
        (
          select seq, round, event_id from ${delivery} as delivery
          where locked.kind = 'lane' and delivery.lane_id = locked.id and delivery.seq >= locked.run_from
            and delivery.seq < locked.run_from + locked.run_max
          order by seq
        )
        union all
        select 0, locked.round, locked.event_id where locked.kind = 'loose' and locked.run_from is not null
      ) as placed
      cross join lateral (
        select public_id, type, body, content_type, event_at, expires_at from ${event} as event
        where event.id = placed.event_id limit 1
      ) as published
    ) as run on run.nth = 1 or run.bytes <= ${maxBytes}::text::int8
    order by locked.n, run.seq`;
}

/** The rows of {@link readLockedSql}, by their places in the answer. */
export function lockedRowsOf(rows: readonly Row[]): ReadonlyMap<number, LockedRow> {
  const found = new Map<number, LockedRow & { run: ClaimedDelivery[] }>();
  for (const row of rows) {
    const n = Number(row[0]);
    let locked = found.get(n);
    if (locked === undefined) {
      locked = { ...lockedRowOf(row), run: [] };
      found.set(n, locked);
    }
    if (typeof row[RUN] === "string") locked.run.push(deliveryOf(row));
  }
  return found;
}

// Where the columns of the endpoint, of the lane and of the run begin.
const ENDPOINT = 14;
const RUN = 21;

function lockedRowOf(row: Row): Omit<LockedRow, "run"> {
  const [
    ,
    kind,
    id,
    epoch,
    head,
    end,
    last,
    attempts,
    failures,
    lapses,
    runLength,
    suspect,
    intent,
    leasedUntil,
  ] = row;
  const [number, endpointId, version, state, dead, generation, key] = row.slice(ENDPOINT, RUN);
  return {
    kind: kind as Claim["kind"],
    id: BigInt(id ?? ""),
    epoch: BigInt(epoch ?? ""),
    head: BigInt(head ?? ""),
    end: BigInt(end ?? ""),
    last: bigintOf(last),
    attempts: Number(attempts),
    failures: Number(failures),
    lapses: Number(lapses),
    runLength: Number(runLength),
    suspectUntil: bigintOf(suspect),
    skipIntended: intent === "skip",
    leasedUntilMs: typeof leasedUntil === "string" ? Number(leasedUntil) : undefined,
    endpoint: {
      number: BigInt(number ?? ""),
      id: endpointId ?? "",
      version: Number(version),
      state: state as EndpointState,
      dead: (dead ?? undefined) as DeadPolicy | undefined,
    },
    lane: typeof key === "string" ? { generation: BigInt(generation ?? ""), key } : undefined,
  };
}

function deliveryOf(row: Row): ClaimedDelivery {
  const [sequence, round, id, type, body, contentType, timeMs, expiresInMs] = row.slice(RUN);
  return {
    sequence: BigInt(sequence ?? ""),
    round: Number(round),
    event: {
      id: id ?? "",
      type: type ?? "",
      body: decodeHex(body ?? "") ?? new Uint8Array(),
      contentType: contentType ?? "",
      time: new Date(Number(timeMs)),
    },
    expiresInMs: typeof expiresInMs === "string" ? Number(expiresInMs) : undefined,
  };
}

function bigintOf(text: string | null | undefined): bigint | undefined {
  return typeof text === "string" ? BigInt(text) : undefined;
}
