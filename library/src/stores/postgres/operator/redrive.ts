import { reach } from "#faults";
import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { redriven } from "../../../lanes/lane.js";
import type { RedrivenRound } from "../../../operator/dead-store.js";
import { bigint, columns, number, optional } from "../client/columns.js";
import type { Session } from "../client/database.js";
import { givenRows, numbers } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { LockedLane } from "../lanes/lane-row.js";
import { NOBODY, writeTurns } from "../lanes/lane-write.js";
import type { Owner } from "../lanes/lock-owners.js";
import { lockOwners, ownerName } from "../lanes/lock-owners.js";
import type { Turn } from "../lanes/run.js";
import { unleasedTurn } from "../lanes/run.js";
import { keepRemovalOut } from "../retention/retention-lock.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

/** A dead letter that is to be redriven; without a round, in the one in which it is dead now. */
export interface WantedRedrive {
  readonly place: DeliveryPlace;
  readonly round: number | undefined;
}

/** Makes dead deliveries due again, in the given order. Their lanes are locked first, as a worker does that writes a dead letter. */
export async function redriveAll(
  { transactions, tables }: StoreDatabase,
  wanted: readonly WantedRedrive[],
): Promise<readonly RedrivenRound[]> {
  const answers = await transactions.run(async (session) => {
    await keepRemovalOut(session, tables);
    const locked = await lockAll(session, wanted, tables);
    const here = wanted.filter(({ place }) => locked.has(ownerName(ownerOf(place))));
    reach("redrive.before_record");
    const resolved = await resolveDead(session, here, tables);
    const passed = here.filter(({ place }) => !resolved.has(nameOf(place)));
    const cancelled = await resumeCancelled(session, passed, tables);
    const results = wanted.map((each) => resultOf(each, { resolved, cancelled, locked }));
    await writeRedriven(session, results, tables);
    reach("redrive.after_record");
    if (results.every(({ result }) => result !== "unknown")) return results.map(({ result }) => result);
    const before = await readBefore(session, here, tables);
    return results.map(({ result, wanted: { place, round } }) =>
      result === "unknown" && before.has(`${nameOf(place)} ${round}`) ? "before" : result,
    );
  });
  reach("redrive.after_commit");
  return answers;
}

/** The lane or the loose delivery that is locked for a delivery. */
function ownerOf(place: DeliveryPlace): Owner {
  return { kind: place.kind, id: place.kind === "lane" ? place.lane : place.id };
}

function nameOf(place: DeliveryPlace): string {
  return place.kind === "lane" ? `lane ${place.lane} ${place.sequence}` : `loose ${place.id}`;
}

function lockAll(
  session: Session,
  wanted: readonly WantedRedrive[],
  tables: Tables,
): Promise<ReadonlyMap<string, LockedLane>> {
  const owners = new Map(wanted.map(({ place }) => [ownerName(ownerOf(place)), ownerOf(place)] as const));
  return lockOwners(session, owners.values(), { tables, read: "head" });
}

interface DeadValues {
  readonly laneId: bigint | undefined;
  readonly sequence: bigint | undefined;
  readonly looseId: bigint | undefined;
  readonly eventId: bigint;
  readonly consumer: bigint;
  readonly round: number;
}

const DEAD = columns<DeadValues>({
  laneId: optional(bigint("lane_id")),
  sequence: optional(bigint("seq")),
  looseId: optional(bigint("loose_id")),
  eventId: bigint("event_id"),
  consumer: bigint("consumer_id"),
  round: number("round"),
});

const PLACES = givenRows<WantedRedrive>({
  lane_id: numbers("int8", ({ place }) => (place.kind === "lane" ? place.lane : undefined)),
  seq: numbers("int8", ({ place }) => (place.kind === "lane" ? place.sequence : undefined)),
  loose_id: numbers("int8", ({ place }) => (place.kind === "loose" ? place.id : undefined)),
  round: numbers("int4", ({ round }) => round),
});

// What was skipped can still be redriven, at the end of its lane; what was cancelled with its lane, at a handler alone: the
// receiver of an endpoint was told of the gap.
const UNDECIDED = "resolved_at is null or resolved_how in ('skipped', 'cancelled')";

// Each is found by its own index, and then changed by its key: a join could be planned as a walk over all that ever died.
const RESOLVE = sqlFor(
  ({ dead, consumer }) => `
    with given as materialized (
      select * from ${PLACES.table("given")}
    )
    update ${dead} as dead set resolved_at = clock_timestamp(), resolved_how = 'redriven'
    where dead.id = any (array(
      select found.id from given cross join lateral (
        (
          select id, consumer_id, resolved_how from ${dead} as dead
          where dead.lane_id = given.lane_id and dead.seq = given.seq and (${UNDECIDED})
            and dead.round = coalesce(given.round, dead.round) order by dead.round desc limit 1
        )
        union all
        (
          select id, consumer_id, resolved_how from ${dead} as dead
          where dead.loose_id = given.loose_id and resolved_at is null
            and dead.round = coalesce(given.round, dead.round) limit 1
        )
      ) as found
      where exists (
        select from ${consumer} as consumer where consumer.id = found.consumer_id and removed_at is null
          and (kind = 'handler' or found.resolved_how is distinct from 'cancelled')
      )
    ))
    returning ${DEAD.list}`,
);

/** Marks dead letters as redriven, and returns them by their names; those that are not listed are left out. */
async function resolveDead(
  session: Session,
  wanted: readonly WantedRedrive[],
  tables: Tables,
): Promise<Map<string, DeadValues>> {
  const { rows } = await session.query({
    text: RESOLVE(tables),
    params: PLACES.params(wanted),
    prepared: true,
  });
  return new Map(rows.map((row) => DEAD.read(row)).map((dead) => [nameOf(placeOf(dead)), dead]));
}

// A person passed over it while it waited. Its lane is locked, and the word is looked at once more where it is changed: a
// second call finds nothing, and would put the event into its lane twice.
const RESUME = sqlFor(
  ({ cancelled, consumer, event }) => `
    with given as materialized (
      select * from ${PLACES.table("given")}
    )
    update ${cancelled} set because = 'redriven'
    where because in ('skipped', 'cancelled') and id = any (array(
      select found.id from given cross join lateral (
        select id, consumer_id, event_id from ${cancelled} as passed
        where passed.lane_id = given.lane_id and passed.seq = given.seq and because in ('skipped', 'cancelled')
          and passed.round = coalesce(given.round, passed.round) order by passed.round desc limit 1
      ) as found
      where exists (
        select from ${consumer} as consumer
        where consumer.id = found.consumer_id and kind = 'handler' and removed_at is null
      ) and exists (select from ${event} as event where event.id = found.event_id)
    ))
    returning ${DEAD.list}`,
);

/** Marks deliveries at handlers that a person passed over as redriven, and returns them by their names. */
async function resumeCancelled(
  session: Session,
  wanted: readonly WantedRedrive[],
  tables: Tables,
): Promise<Map<string, DeadValues>> {
  if (wanted.length === 0) return new Map();
  const { rows } = await session.query({
    text: RESUME(tables),
    params: PLACES.params(wanted),
    prepared: true,
  });
  return new Map(rows.map((row) => DEAD.read(row)).map((passed) => [nameOf(placeOf(passed)), passed]));
}

function placeOf({ laneId, sequence = 0n, looseId = 0n }: DeadValues): DeliveryPlace {
  return laneId === undefined ? { kind: "loose", id: looseId } : { kind: "lane", lane: laneId, sequence };
}

interface Result {
  readonly wanted: WantedRedrive;
  readonly result: RedrivenRound;
  readonly dead?: DeadValues | undefined;
  /** The lane whose dead head it is. */
  readonly turn?: Turn;
}

function resultOf(
  wanted: WantedRedrive,
  {
    resolved,
    cancelled,
    locked,
  }: {
    readonly resolved: Map<string, DeadValues>;
    readonly cancelled: Map<string, DeadValues>;
    readonly locked: ReadonlyMap<string, LockedLane>;
  },
): Result {
  const { place } = wanted;
  const dead = resolved.get(nameOf(place));
  const owner = locked.get(ownerName(ownerOf(place)));
  const passed = cancelled.get(nameOf(place));
  if (cancelled.delete(nameOf(place))) return { wanted, result: "at_end", dead: passed };
  if (dead === undefined || owner === undefined) return { wanted, result: "unknown" };
  // Of two that are the same, the first counts.
  resolved.delete(nameOf(place));
  const change = redriven(owner.lane, place.kind === "lane" ? place.sequence : 0n);
  if (change === undefined) return { wanted, result: "at_end", dead };
  const result = place.kind === "lane" ? "in_place" : "at_end";
  return { wanted, result, dead, turn: unleasedTurn(owner, change) };
}

const STAGED = givenRows<DeadValues>({
  event_id: numbers("int8", ({ eventId }) => eventId),
  consumer_id: numbers("int8", ({ consumer }) => consumer),
  round: numbers("int4", ({ round }) => round + 1),
});

const REVIVED = givenRows<Turn>({
  lane_id: numbers("int8", ({ locked }) => locked.identity.id),
  seq: numbers("int8", ({ change }) => change.head),
  round: numbers("int4", ({ change }) => change.round),
});

/** What stood at its head is due again, in its next round; all else goes by way of the stage: only the sequencer lengthens lanes. */
async function writeRedriven(session: Session, results: readonly Result[], tables: Tables): Promise<void> {
  const staged = results.flatMap(({ dead, turn }) =>
    dead !== undefined && turn === undefined ? [dead] : [],
  );
  const turns = results.flatMap(({ turn }) => turn ?? []);
  const heads = turns.filter(({ locked }) => locked.lane.kind === "lane");
  if (staged.length > 0) {
    await session.query({
      text: `
        insert into ${tables.stage} (tenant, event_id, target_consumer_id, round)
        select coalesce((select tenant from ${tables.event} as event where event.id = staged.event_id), ''), event_id,
          consumer_id, round
        from ${STAGED.table("staged")} order by n`,
      params: STAGED.params(staged),
    });
  }
  if (heads.length > 0) {
    await session.query({
      text: `
        update ${tables.delivery} as delivery set round = revived.round from ${REVIVED.table("revived")}
        where delivery.lane_id = revived.lane_id and delivery.seq = revived.seq`,
      params: REVIVED.params(heads),
    });
  }
  if (turns.length > 0) await session.query(writeTurns(turns, NOBODY, tables));
}

/** Those that were redriven in their round before. */
async function readBefore(
  session: Session,
  wanted: readonly WantedRedrive[],
  { dead, cancelled }: Tables,
): Promise<ReadonlySet<string>> {
  const { rows } = await session.query({
    text: `
      select ${DEAD.list} from (
        select dead.consumer_id, dead.lane_id, dead.seq, dead.loose_id, dead.event_id, dead.round, resolved_how
        from ${PLACES.table("given")} cross join lateral (
          (
            select * from ${dead} as dead
            where dead.lane_id = given.lane_id and dead.seq = given.seq and dead.round = given.round limit 1
          )
          union all
          (
            select * from ${dead} as dead where dead.loose_id = given.loose_id and dead.round = given.round limit 1
          )
        ) as dead
        where resolved_how = 'redriven'
        union all
        select passed.consumer_id, passed.lane_id, passed.seq, passed.loose_id, passed.event_id, passed.round, because
        from ${PLACES.table("given")} cross join lateral (
          select * from ${cancelled} as passed
          where passed.lane_id = given.lane_id and passed.seq = given.seq and passed.round = given.round limit 1
        ) as passed
        where because = 'redriven'
      ) as dead`,
    params: PLACES.params(wanted),
  });
  return new Set(
    rows.map((row) => DEAD.read(row)).map((found) => `${nameOf(placeOf(found))} ${found.round}`),
  );
}
