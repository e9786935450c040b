import type { Session, Statement } from "../client/database.js";
import { bigint, boolean, columns, text } from "../client/columns.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { LaneName } from "../../../outbox/fan-out.js";
import type { Dealt } from "../../../lanes/deal.js";
import { textArray } from "../client/column-arrays.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import type { Staged } from "./stage.js";
import { Unplaceable } from "./stage.js";

/** One event at one consumer. */
export interface NumberedPlace {
  readonly stageId: bigint;
  readonly eventId: bigint;
  readonly round: number;
  readonly consumer: bigint;
  readonly lane: LaneName | undefined;
}

/** A lane, by its name, and what comes to its end. */
interface Growth extends LaneName {
  readonly consumer: bigint;
  readonly places: NumberedPlace[];
}

/** A growth whose lane is known. */
interface PlacedGrowth extends Growth {
  readonly laneId: bigint;
  /** The sequence of its first new delivery. */
  readonly first: bigint;
  readonly isNew: boolean;
}

/**
 * Makes room for events at the ends of their lanes, and returns the statement that writes their deliveries and consumes
 * them, for the caller to run last. Those without a key go beside the lanes.
 */
export async function makePlaces(
  session: Session,
  dealt: readonly Dealt<Staged, NumberedPlace>[],
  tables: Tables,
): Promise<Statement> {
  const places = dealt.flatMap((each) => each.places);
  const growths = growthsOf(places);
  const placed = growths.length === 0 ? [] : await lengthenLanes(session, growths, tables);
  const loose = places.filter(({ lane }) => lane === undefined);
  return insertDeliveries({ placed, loose, dealt }, tables);
}

function growthsOf(places: readonly NumberedPlace[]): readonly Growth[] {
  const growths = new Map<string, Growth>();
  for (const place of places) {
    const { consumer, lane } = place;
    if (lane === undefined) continue;
    const name = nameOf({ consumer, ...lane });
    const growth = growths.get(name);
    if (growth) growth.places.push(place);
    else growths.set(name, { consumer, ...lane, places: [place] });
  }
  return [...growths.values()];
}

function nameOf({ consumer, tenant, source, key }: Omit<Growth, "places">): string {
  return tenant === "" && source === ""
    ? `${consumer}\n${key}`
    : JSON.stringify([String(consumer), tenant, source, key]);
}

const GROWTHS = givenRows<Growth>({
  consumer_id: numbers("int8", ({ consumer }) => consumer),
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  key: texts(({ key }) => key),
  count: numbers("int4", ({ places }) => places.length),
});

interface LaneValues {
  readonly laneId: bigint;
  readonly consumer: bigint;
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
  readonly end: bigint;
  readonly isNew: boolean;
}

const LENGTHENED = columns<LaneValues>({
  laneId: bigint("lane_id"),
  consumer: bigint("consumer_id"),
  tenant: text("tenant"),
  source: text("source"),
  key: text("key"),
  end: bigint("end_seq"),
  isNew: boolean("is_new"),
});

/** Finds lanes by their names, makes those that are missing, and makes room in those that were there. */
async function lengthenLanes(
  session: Session,
  growths: readonly Growth[],
  tables: Tables,
): Promise<readonly PlacedGrowth[]> {
  const params = GROWTHS.params(growths);
  const { rows } = await session.query({ text: LENGTHEN(tables), params, prepared: true });
  const found = new Map(rows.map((row) => LENGTHENED.read(row)).map((lane) => [nameOf(lane), lane]));
  return growths.map((growth) => {
    const lane = found.get(nameOf(growth));
    if (lane === undefined) throw new Unplaceable(`the lane of key ${growth.key} has no state`);
    const { laneId, end, isNew } = lane;
    // A new lane starts at the number of its event in the stage: one that was removed and comes again never goes back.
    const first = isNew ? (growth.places[0]?.stageId ?? 0n) : end - BigInt(growth.places.length);
    return { ...growth, laneId, first, isNew };
  });
}

// Lanes are looked up by their names with each batch: an id that was remembered from a transaction that a failover has
// lost would be another key's by now. Only the sequencer makes lanes, so nobody comes in between. They are locked in the
// order of their ids, as everyone does. A lane that was empty and flowing is armed (`arms` of lanes/lane.ts); whether it
// is empty is known of the locked row alone: read before, a worker that settles its last delivery in between would leave
// the lane unarmed for ever.
const LENGTHEN = sqlFor(
  ({ lane, laneState, outboxConfig }) => `
    with wanted as materialized (
      select wanted.*, found.lane_id from ${GROWTHS.table("wanted")} left join lateral (
        select lane_id from ${lane} as lane
        where lane.consumer_id = wanted.consumer_id and lane.tenant = wanted.tenant and lane.source = wanted.source
          and lane.key = wanted.key limit 1
      ) as found on true
    ), made as (
      insert into ${lane} (consumer_id, tenant, source, key, generation)
      select consumer_id, tenant, source, key, (select generation from ${outboxConfig} where one)
      from wanted where lane_id is null order by n
      returning lane_id, consumer_id, tenant, source, key
    ), locked as materialized (
      select longer.* from (select * from wanted where lane_id is not null order by lane_id) as longer
      cross join lateral (
        select lane_id from ${laneState} as state where state.lane_id = longer.lane_id for update
      ) as state
    ), lengthened as (
      update ${laneState} as state set
        next_seq = state.next_seq + locked.count,
        ready_at = case when state.state = 'flowing' and state.head_seq = state.next_seq
          then clock_timestamp() else state.ready_at end
      from locked where state.lane_id = locked.lane_id
      returning state.lane_id, state.consumer_id, locked.tenant, locked.source, locked.key, state.next_seq
    )
    select ${LENGTHENED.list} from (
      select lane_id, consumer_id, tenant, source, key, next_seq as end_seq, false as is_new from lengthened
      union all
      select lane_id, consumer_id, tenant, source, key, 0, true from made
    ) as lane`,
);

interface PlacedDelivery {
  readonly laneId: bigint;
  readonly sequence: bigint;
  readonly eventId: bigint;
  readonly round: number;
}

const STARTED = givenRows<PlacedGrowth>({
  lane_id: numbers("int8", ({ laneId }) => laneId),
  consumer_id: numbers("int8", ({ consumer }) => consumer),
  first: numbers("int8", ({ first }) => first),
  count: numbers("int4", ({ places }) => places.length),
});

const LOOSE = givenRows<NumberedPlace>({
  consumer_id: numbers("int8", ({ consumer }) => consumer),
  event_id: numbers("int8", ({ eventId }) => eventId),
  round: numbers("int4", ({ round }) => round),
});

const DELIVERIES = givenRows<PlacedDelivery>({
  lane_id: numbers("int8", ({ laneId }) => laneId),
  seq: numbers("int8", ({ sequence }) => sequence),
  event_id: numbers("int8", ({ eventId }) => eventId),
  round: numbers("int4", ({ round }) => round),
});

/** An event that has a part of its places. */
const BEGUN = givenRows<Dealt<Staged, NumberedPlace>>({
  row: texts(({ event }) => event.row),
  after_consumer_id: numbers("int8", ({ event, places }) => places.at(-1)?.consumer ?? event.after),
});

interface Insertion {
  readonly placed: readonly PlacedGrowth[];
  readonly loose: readonly NumberedPlace[];
  readonly dealt: readonly Dealt<Staged, NumberedPlace>[];
}

function insertDeliveries({ placed, loose, dealt }: Insertion, tables: Tables): Statement {
  const started = placed.filter(({ isNew }) => isNew);
  const deliveries = placed.flatMap(({ laneId, first, places }) =>
    places.map(({ eventId, round }, n) => ({ laneId, sequence: first + BigInt(n), eventId, round })),
  );
  const done = dealt.filter(({ isDone }) => isDone).map(({ event }) => event.row);
  const begun = dealt.filter(({ isDone }) => !isDone);
  return {
    text: INSERT(tables),
    params: [
      textArray(done),
      ...STARTED.params(started),
      ...LOOSE.params(loose),
      ...DELIVERIES.params(deliveries),
      ...BEGUN.params(begun),
    ],
    prepared: true,
  };
}

const AT_LOOSE = 2 + STARTED.size;
const AT_DELIVERIES = AT_LOOSE + LOOSE.size;
const AT_BEGUN = AT_DELIVERIES + DELIVERIES.size;

// The rows of the stage are locked, and are where they were read. What was given all of its places is consumed by the
// statement that gives the last of them: apart, one could be kept and the other lost.
const INSERT = sqlFor(
  ({ stage, laneState, delivery, loose }) => `
    with clock as materialized (
      select clock_timestamp() as at
    ), consumed as (
      delete from ${stage} where ctid = any ($1::text::tid[])
    ), begun as (
      update ${stage} as stage set after_consumer_id = begun.after_consumer_id
      from ${BEGUN.table("begun", AT_BEGUN)} where stage.ctid = begun.row::tid
    ), started as (
      insert into ${laneState} (lane_id, consumer_id, head_seq, next_seq, ready_at)
      select lane_id, consumer_id, first, first + count, at from ${STARTED.table("started", 2)}, clock
    ), loose as (
      insert into ${loose} (consumer_id, event_id, round, ready_at)
      select consumer_id, event_id, round, at from ${LOOSE.table("loose", AT_LOOSE)}, clock order by n
    )
    insert into ${delivery} (lane_id, seq, event_id, round)
    select lane_id, seq, event_id, round from ${DELIVERIES.table("placed", AT_DELIVERIES)}`,
);
