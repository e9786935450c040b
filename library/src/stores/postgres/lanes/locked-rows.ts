import type { Claim, ClaimedDelivery } from "../../../lanes/lane-store.js";
import type { EndpointState } from "../../../outbox/endpoint.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import type { Row } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import { bytesOfHex } from "../client/hex-column.js";

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
  /** When it became due, in seconds; only of what was picked for that. */
  readonly readyAtS: number | undefined;
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

// A body above this ends a run before it: bodies are summed up here, and the server must not send many great ones for
// nothing.
const MAX_RUN_BODY = 65_536;

/**
 * Reads what was locked, with its endpoint, its name and its next deliveries. `locked` is a subquery with the columns
 * n (its place in the answer), kind, id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures, lapses,
 * run_len, suspect_until, intent, leased_until, event_id, round, run_from (null: no deliveries), run_max and ready_at.
 * What is the same for all deliveries of a lane comes with the first alone, and numbers come in one column: each column of
 * each row costs the driver as much as a small computation. Tables are asked for one locked row at a time, by their keys, and
 * the limits keep the planner from making joins of that: of a join that was planned when a vacuum had just found the tables
 * empty, all events were read for each row, until a vacuum found more.
 */
export function readLockedSql(locked: string, tables: OutboxTables): string {
  const { endpoint, lane, delivery, event } = tables;
  const first = "placed.seq is null or placed.seq = locked.run_from";
  return `
    select locked.n::text,
      case when ${first} then concat(
        locked.kind, ',', locked.id, ',', locked.epoch, ',', head_seq, ',', next_seq, ',', last_seq, ',', attempts, ',',
        failures, ',', lapses, ',', run_len, ',', suspect_until, ',', intent, ',', ${inMs("leased_until")}, ',',
        locked.endpoint_id, ',', endpoint.version, ',', endpoint.state, ',', endpoint.dead, ',', generation, ',',
        extract(epoch from locked.ready_at)
      ) end,
      case when ${first} then endpoint.public_id end,
      case when ${first} then lane.key end,
      case when event.id is not null then concat(
        placed.seq, ',', coalesce(placed.round, locked.round), ',', ${inMs("event_at")}, ',',
        ${inMs("expires_at - clock_timestamp()")}, ',', headers
      ) end,
      event.public_id, event.type, content_type,
      case when ${first} or octet_length(body) <= ${MAX_RUN_BODY} then encode(body, 'hex') end
    from ${locked} as locked
    cross join lateral (
      select * from ${endpoint} as endpoint where endpoint.id = locked.endpoint_id limit 1
    ) as endpoint
    left join lateral (
      select * from ${lane} as lane where locked.kind = 'lane' and lane.lane_id = locked.id limit 1
    ) as lane on true
    left join lateral (
      select * from ${delivery} as placed where locked.kind = 'lane' and placed.lane_id = locked.id
        and placed.seq >= locked.run_from and placed.seq < locked.run_from + locked.run_max
      limit locked.run_max
    ) as placed on true
    left join lateral (
      select * from ${event} as event
      where locked.run_from is not null and event.id = coalesce(placed.event_id, locked.event_id) limit 1
    ) as event on true`;
}

function inMs(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::int8`;
}

/** The rows of {@link readLockedSql}, by their places in the answer. A run has no more bytes than it may, but always its head. */
export function lockedRowsOf(rows: readonly Row[], maxBytes: number): ReadonlyMap<number, LockedRow> {
  const heads = new Map<number, Row>();
  const runs = new Map<number, ClaimedDelivery[]>();
  for (const row of rows) {
    const n = Number(row[0]);
    if (typeof row[1] === "string") heads.set(n, row);
    if (typeof row[DELIVERY] !== "string" || typeof row[BODY] !== "string") continue;
    const run = runs.get(n);
    if (run) run.push(deliveryOf(row));
    else runs.set(n, [deliveryOf(row)]);
  }
  const sorted = [...heads].toSorted(([a], [b]) => a - b);
  return new Map(sorted.map(([n, row]) => [n, lockedRowOf(row, withinBytes(runs.get(n) ?? [], maxBytes))]));
}

const DELIVERY = 4;
const BODY = 8;
const DELIVERY_NUMBERS = 4;

/** From the first on, without a gap, up to the limit. */
function withinBytes(run: ClaimedDelivery[], maxBytes: number): readonly ClaimedDelivery[] {
  if (run.length < 2) return run;
  run.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  const first = run[0]?.sequence ?? 0n;
  let bytes = 0;
  const length = run.findIndex(({ sequence, event }, n) => {
    bytes += event.body.length;
    return sequence !== first + BigInt(n) || (n > 0 && bytes > maxBytes);
  });
  return length === -1 ? run : run.slice(0, length);
}

function lockedRowOf(row: Row, run: readonly ClaimedDelivery[]): LockedRow {
  const [, packed, endpointId, key] = row;
  const [kind, id, epoch, head, end, last, attempts, failures, lapses, runLength, suspect, ...more] =
    packed?.split(",") ?? [];
  const [intent, leasedUntil, number, version, state, dead, generation, readyAt] = more;
  return {
    kind: kind as Claim["kind"],
    id: BigInt(id ?? ""),
    epoch: BigInt(epoch ?? ""),
    head: BigInt(head ?? ""),
    end: BigInt(end ?? ""),
    last: ifGiven(last, BigInt),
    attempts: Number(attempts),
    failures: Number(failures),
    lapses: Number(lapses),
    runLength: Number(runLength),
    suspectUntil: ifGiven(suspect, BigInt),
    skipIntended: intent === "skip",
    readyAtS: ifGiven(readyAt, Number),
    leasedUntilMs: ifGiven(leasedUntil, Number),
    endpoint: {
      number: BigInt(number ?? ""),
      id: endpointId ?? "",
      version: Number(version),
      state: state as EndpointState,
      dead: ifGiven(dead, (policy) => policy as DeadPolicy),
    },
    lane: typeof key === "string" ? { generation: BigInt(generation ?? ""), key } : undefined,
    run,
  };
}

function deliveryOf(row: Row): ClaimedDelivery {
  const packed = row[DELIVERY] ?? "";
  const numbers = packed.split(",", DELIVERY_NUMBERS);
  const [sequence, round, timeMs, expiresInMs] = numbers;
  // The rest is JSON, with commas of its own.
  const headers = packed.slice(numbers.reduce((sum, { length }) => sum + length + 1, 0));
  return {
    // A loose delivery has none.
    sequence: BigInt(sequence ?? ""),
    round: Number(round),
    event: {
      id: row[5] ?? "",
      type: row[6] ?? "",
      body: bytesOfHex(row[BODY] ?? ""),
      contentType: row[7] ?? "",
      time: new Date(Number(timeMs)),
      headers: ifGiven(headers, headersOf),
    },
    expiresInMs: ifGiven(expiresInMs, Number),
  };
}

/** As they stand in the table of events. */
export function headersOf(text: string): Readonly<Record<string, string>> {
  return JSON.parse(text) as Record<string, string>;
}

/** Null is written as an empty text. */
function ifGiven<T>(text: string | undefined, read: (text: string) => T): T | undefined {
  return text === undefined || text === "" ? undefined : read(text);
}
