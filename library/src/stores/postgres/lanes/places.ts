import { numberArray, textArray } from "../client/column-arrays.js";
import type { Session, Statement } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import { Unplaceable } from "./stage.js";

/** One event at one endpoint. */
export interface NumberedPlace {
  readonly stageId: bigint;
  readonly eventId: bigint;
  readonly round: number;
  readonly endpoint: bigint;
  readonly key: string | undefined;
}

/** A lane, and what comes to its end. */
interface Growth {
  readonly endpoint: bigint;
  readonly key: string;
  readonly places: NumberedPlace[];
  laneId: bigint;
  /** Of its first new delivery. A new lane starts at its stage's number, so that one that was removed and comes again never goes back. */
  first: bigint;
  isNew: boolean;
}

const MAX_KNOWN = 100_000;

/** Lanes by their names. They do not change while the endpoints are the same. */
export class KnownLanes {
  readonly #ids = new Map<string, bigint>();
  #version = "";

  forVersion(version: string): this {
    if (this.#version !== version || this.#ids.size > MAX_KNOWN) this.#ids.clear();
    this.#version = version;
    return this;
  }

  get(name: string): bigint | undefined {
    return this.#ids.get(name);
  }

  /** Only what is committed: a lane of a transaction that was rolled back has never been. */
  learn(lanes: ReadonlyMap<string, bigint>): void {
    for (const [name, id] of lanes) this.#ids.set(name, id);
  }
}

/** What is left to do for a batch of places. */
export interface Placing {
  /** Writes the deliveries. */
  readonly insert: Statement;
  /** The lanes that it met, by their names. */
  readonly lanes: ReadonlyMap<string, bigint>;
}

/** Makes room for events at the ends of their lanes; those without a key go beside them. */
export async function makePlaces(
  session: Session,
  places: readonly NumberedPlace[],
  known: Pick<KnownLanes, "get">,
  tables: OutboxTables,
): Promise<Placing> {
  const growths = growthsOf(places);
  const unknown: Growth[] = [];
  for (const [name, growth] of growths) {
    const laneId = known.get(name);
    if (laneId === undefined) unknown.push(growth);
    else growth.laneId = laneId;
  }
  if (unknown.length > 0) await nameLanes(session, unknown, tables);
  // In the order in which everyone locks lanes.
  const sorted = [...growths.values()].toSorted((a, b) => (a.laneId < b.laneId ? -1 : 1));
  await lengthenLanes(
    session,
    sorted.filter(({ isNew }) => !isNew),
    tables,
  );
  const loose = places.filter(({ key }) => key === undefined);
  return {
    insert: insertDeliveries({ growths: sorted, loose }, tables),
    lanes: new Map([...growths].map(([name, { laneId }]) => [name, laneId])),
  };
}

function growthsOf(places: readonly NumberedPlace[]): ReadonlyMap<string, Growth> {
  const growths = new Map<string, Growth>();
  for (const place of places) {
    const { endpoint, key } = place;
    if (key === undefined) continue;
    const name = `${endpoint}\n${key}`;
    const growth = growths.get(name);
    if (growth) growth.places.push(place);
    else
      growths.set(name, { endpoint, key, places: [place], laneId: 0n, first: place.stageId, isNew: false });
  }
  return growths;
}

/** Finds lanes, and makes those that are missing. Only the sequencer makes lanes, so nobody comes in between. */
async function nameLanes(session: Session, growths: Growth[], { lane }: OutboxTables): Promise<void> {
  const { rows } = await session.query({
    text: `
      with wanted as materialized (
        select endpoint_id, key, n
        from unnest($1::int8[], $2::text[]) with ordinality as wanted (endpoint_id, key, n)
      ), known as materialized (
        select n, endpoint_id, key, found.lane_id from wanted left join lateral (
          select lane_id from ${lane} as lane
          where lane.endpoint_id = wanted.endpoint_id and lane.key = wanted.key limit 1
        ) as found on true
      ), made as (
        insert into ${lane} (endpoint_id, key)
        select endpoint_id, key from known where lane_id is null order by n
        returning lane_id
      )
      select n::text, lane_id::text from known where lane_id is not null
      union all
      (select null, made.lane_id::text from made order by made.lane_id)`,
    params: [numberArray(growths.map(({ endpoint }) => endpoint)), textArray(growths.map(({ key }) => key))],
  });
  const made = rows.filter(([n]) => typeof n !== "string").map(([, laneId]) => BigInt(laneId ?? ""));
  for (const [n, laneId] of rows) {
    const growth = growths[Number(n) - 1];
    if (typeof n === "string" && growth) growth.laneId = BigInt(laneId ?? "");
  }
  // They were made in the order in which they are missing here.
  for (const growth of growths) {
    if (growth.laneId > 0n) continue;
    growth.laneId = made.shift() ?? 0n;
    growth.isNew = true;
  }
}

/**
 * Makes room for new deliveries, and arms lanes that were empty. Whether one is empty is known of the locked row alone:
 * read before, a worker that settles its last delivery in between would leave the lane unarmed for ever.
 */
async function lengthenLanes(
  session: Session,
  growths: readonly Growth[],
  { laneState }: OutboxTables,
): Promise<void> {
  if (growths.length === 0) return;
  const { rows } = await session.query({
    text: `
      with locked as materialized (
        select longer.lane_id, longer.count
        from unnest($1::int8[], $2::int4[]) as longer (lane_id, count)
        cross join lateral (
          select lane_id from ${laneState} as state where state.lane_id = longer.lane_id for update
        ) as state
      )
      update ${laneState} as state set
        next_seq = state.next_seq + locked.count,
        ready_at = case when state.state = 'flowing' and state.head_seq = state.next_seq
          then clock_timestamp() else state.ready_at end
      from locked where state.lane_id = locked.lane_id
      returning state.lane_id::text, (state.next_seq - locked.count)::text`,
    params: [
      numberArray(growths.map(({ laneId }) => laneId)),
      numberArray(growths.map(({ places }) => places.length)),
    ],
    prepared: true,
  });
  const firsts = new Map(rows.map(([laneId, first]) => [laneId, first]));
  for (const growth of growths) {
    const first = firsts.get(String(growth.laneId));
    if (typeof first !== "string") throw new Unplaceable(`lane ${growth.laneId} has no state`);
    growth.first = BigInt(first);
  }
}

interface Placed {
  readonly growths: readonly Growth[];
  readonly loose: readonly NumberedPlace[];
}

function insertDeliveries(
  { growths, loose }: Placed,
  { laneState, delivery, loose: looseTable }: OutboxTables,
): Statement {
  const started = growths.filter(({ isNew }) => isNew);
  const placed = growths.flatMap(({ laneId, first, places }) =>
    places.map(({ eventId, round }, n) => ({ laneId, seq: first + BigInt(n), eventId, round })),
  );
  return {
    text: `
      with clock as materialized (
        select clock_timestamp() as at
      ), started as (
        insert into ${laneState} (lane_id, endpoint_id, head_seq, next_seq, ready_at)
        select lane_id, endpoint_id, first, first + count, at
        from unnest($1::int8[], $2::int8[], $3::int8[], $4::int4[]) as started (lane_id, endpoint_id, first, count), clock
      ), loose as (
        insert into ${looseTable} (endpoint_id, event_id, round, ready_at)
        select endpoint_id, event_id, round, at
        from unnest($5::int8[], $6::int8[], $7::int4[]) with ordinality as loose (endpoint_id, event_id, round, n), clock
        order by n
      )
      insert into ${delivery} (lane_id, seq, event_id, round)
      select * from unnest($8::int8[], $9::int8[], $10::int8[], $11::int4[])`,
    params: [
      numberArray(started.map(({ laneId }) => laneId)),
      numberArray(started.map(({ endpoint }) => endpoint)),
      numberArray(started.map(({ first }) => first)),
      numberArray(started.map(({ places }) => places.length)),
      numberArray(loose.map(({ endpoint }) => endpoint)),
      numberArray(loose.map(({ eventId }) => eventId)),
      numberArray(loose.map(({ round }) => round)),
      numberArray(placed.map(({ laneId }) => laneId)),
      numberArray(placed.map(({ seq }) => seq)),
      numberArray(placed.map(({ eventId }) => eventId)),
      numberArray(placed.map(({ round }) => round)),
    ],
    prepared: true,
  };
}
