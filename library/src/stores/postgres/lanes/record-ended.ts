import type { DeadDelivery } from "../../../lanes/dead.js";
import type { CancelledDelivery } from "../../../lanes/lane.js";
import type { Session } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import { withoutNul } from "../client/identifiers.js";
import type { Tables } from "../schema/tables.js";
import type { LockedLane } from "./lane-row.js";
import { pauseConsumer } from "./pause.js";
import type { Turn } from "./run.js";

/**
 * Records deliveries that ended undelivered, and stops consumers that have gone. To be called before the lanes are
 * written, which removes what is recorded here.
 */
export async function recordEnded(session: Session, turns: readonly Turn[], tables: Tables): Promise<void> {
  const dead = turns.flatMap(({ locked, change }) => (change.dead ? [{ locked, end: change.dead }] : []));
  if (dead.length > 0) await recordDead(session, dead, tables);
  const cancelled = turns.flatMap(({ locked, change }) =>
    change.cancelled ? [{ locked, end: change.cancelled }] : [],
  );
  if (cancelled.length > 0) await recordCancelled(session, cancelled, tables);
  await disableConsumers(session, turns, tables);
  await pauseConsumers(session, turns, tables);
}

interface Ended<End> {
  readonly locked: LockedLane;
  readonly end: End;
}

/** What of an ended delivery both tables have. */
const PLACE = {
  kind: texts(({ locked }: Ended<unknown>) => locked.lane.kind),
  owner: numbers("int8", ({ locked }: Ended<unknown>) => locked.identity.id),
  seq: numbers("int8", ({ end }: Ended<{ readonly sequence: bigint }>) => end.sequence),
  consumer_id: numbers("int8", ({ locked }: Ended<unknown>) => locked.consumer),
};

const PLACE_COLUMNS = "consumer_id, lane_id, seq, loose_id, event_id, round";

const PLACE_VALUES = `consumer_id, case kind when 'lane' then owner end, case kind when 'lane' then seq end,
        case kind when 'loose' then owner end, event_id, round`;

const DEAD = givenRows<Ended<DeadDelivery>>({
  ...PLACE,
  because: texts(({ end }) => end.because),
  attempts: numbers("int4", ({ end }) => end.attempts),
  last_status: numbers("int4", ({ end }) => end.last?.status),
  last_error: texts(({ end }) => end.last?.error),
});

async function recordDead(
  session: Session,
  dead: readonly Ended<DeadDelivery>[],
  tables: Tables,
): Promise<void> {
  // To the millisecond, which is what people see of it: asked for what died since a dead letter did, a filter finds it.
  // A delivery dies once in a round. Where tables were changed by hand it might die again: that would fail the claim, whose
  // first lane it stays, and with it every later claim of every lane.
  await session.query({
    text: `
      insert into ${tables.dead} (${PLACE_COLUMNS}, because, attempts, last_status, last_error, died_at)
      select ${PLACE_VALUES}, because, attempts, last_status, last_error,
        date_trunc('milliseconds', clock_timestamp())
      from ${DEAD.table("ended")} cross join ${eventOf("ended", tables)} order by n
      on conflict do nothing`,
    params: DEAD.params(dead),
  });
}

const CANCELLED = givenRows<Ended<CancelledDelivery>>({ ...PLACE, because: texts(({ end }) => end.because) });

async function recordCancelled(
  session: Session,
  cancelled: readonly Ended<CancelledDelivery>[],
  tables: Tables,
): Promise<void> {
  await session.query({
    text: `
      insert into ${tables.cancelled} (${PLACE_COLUMNS}, because, cancelled_at)
      select ${PLACE_VALUES}, because, clock_timestamp()
      from ${CANCELLED.table("ended")} cross join ${eventOf("ended", tables)} order by n`,
    params: CANCELLED.params(cancelled),
  });
}

/** The event and the round of a delivery that has ended. */
function eventOf(ended: string, { delivery, loose }: Tables): string {
  return `lateral (
        select event_id, round from ${delivery} as delivery
        where ${ended}.kind = 'lane' and delivery.lane_id = ${ended}.owner and delivery.seq = ${ended}.seq
        union all
        select event_id, round from ${loose} as loose where ${ended}.kind = 'loose' and loose.id = ${ended}.owner
      ) as placed`;
}

/** Pauses handlers for a time; in the order of their numbers, as above. */
async function pauseConsumers(session: Session, turns: readonly Turn[], tables: Tables): Promise<void> {
  const pauses = turns
    .flatMap(({ locked, change: { paused } }) => (paused ? [{ number: locked.consumer, pause: paused }] : []))
    .toSorted((a, b) => (a.number < b.number ? -1 : 1));
  for (const { number, pause } of pauses) await pauseConsumer(session, number, { pause, tables });
}

/** Stops consumers that have gone, a paused one too: what waits for them stays, in order. */
async function disableConsumers(
  session: Session,
  turns: readonly Turn[],
  { consumer }: Tables,
): Promise<void> {
  const reasons = new Map(
    turns.flatMap(({ locked, change: { disabled } }) =>
      disabled === undefined ? [] : [[locked.consumer, disabled] as const],
    ),
  );
  // In the order of their numbers: two settlements that took them in any order would wait for each other.
  for (const [number, because] of [...reasons].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    await session.query({
      text: `
        update ${consumer} set state = 'disabled', because = $2::text, version = version + 1, mark = gen_random_uuid(),
          stopped_at = coalesce(stopped_at, clock_timestamp())
        where id = $1::text::int8 and state <> 'disabled'`,
      params: [String(number), withoutNul(because)],
    });
  }
}
