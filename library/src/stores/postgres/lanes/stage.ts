import type { Addressed } from "../../../outbox/fan-out.js";
import { bigint, boolean, columns, number, optional, text } from "../client/columns.js";
import type { Answer, Session, Statement } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

/** An event that waits for its places. */
export interface Staged {
  readonly id: bigint;
  readonly eventId: bigint;
  /** Of a redrive: the number of the only consumer that it goes to. */
  readonly target: bigint | undefined;
  readonly round: number;
  /** Whether it was not to be delivered before a time that has come. */
  readonly waited: boolean;
  /** Undefined where the event itself is gone. */
  readonly event: Addressed | undefined;
}

/** What cannot be given its places for what it is, and not because the database would not work. */
export class Unplaceable extends Error {}

export interface Taken {
  readonly staged: readonly Staged[];
  /** Of the consumers, as they are now. */
  readonly configVersion: string;
}

/** What the attempt to lock came to. */
export interface StageLock {
  readonly got: boolean;
  /** Whether an event that had to wait for its time is due. */
  readonly due: boolean;
}

// Everything here but `isWaiting` needs the lock of the sequencer, taken by an earlier statement: a snapshot that is older
// than the lock shows rows that another process has just consumed.

/** Whether a sequencer would find something to do. */
export async function isWaiting(session: Session, tables: Tables): Promise<boolean> {
  const { rows } = await session.query({
    text: `select (exists (select from ${tables.stage}) or ${isDueSql(tables)})::text as waiting`,
    params: [],
  });
  return rows[0]?.[0] === "true";
}

function isDueSql({ later }: Tables): string {
  return `exists (select from ${later} where deliver_at <= (select clock_timestamp()))`;
}

/** Takes the lock, or says that another has it; read by {@link stageLockOf}. */
export function tryLockStage(tables: Tables): Statement {
  return { text: TRY_LOCK(tables), params: [], prepared: true };
}

/** Waits for the lock. */
export async function lockStage(session: Session, tables: Tables): Promise<StageLock> {
  return stageLockOf(await session.query({ text: LOCK(tables), params: [] }));
}

export function stageLockOf({ rows }: Answer): StageLock {
  const [got, due] = rows[0] ?? [];
  return { got: got !== "false", due: due === "true" };
}

function lockKey({ stage }: Tables): string {
  return `hashtextextended('posthorn.sequence', '${stage}'::regclass::oid::int8)`;
}

const TRY_LOCK = sqlFor(
  (tables) =>
    `select pg_try_advisory_xact_lock(${lockKey(tables)})::text as got, ${isDueSql(tables)}::text as due`,
);

const LOCK = sqlFor(
  (tables) =>
    `select pg_advisory_xact_lock(${lockKey(tables)})::text as got, ${isDueSql(tables)}::text as due`,
);

/** Moves what is due by now to the end of the stage: it takes its place in its lanes now. */
export async function moveDue(session: Session, limit: number, { stage, later }: Tables): Promise<void> {
  await session.query({
    text: `
      with due as (
        delete from ${later} where ctid = any (array(
          select ctid from ${later} where deliver_at <= (select clock_timestamp())
          order by deliver_at, event_id limit $1::text::int8
        )) returning deliver_at, event_id
      )
      insert into ${stage} (event_id) select event_id from due order by deliver_at, event_id`,
    params: [String(limit)],
    prepared: true,
  });
}

interface TakenValues {
  readonly id: bigint;
  readonly eventId: bigint;
  readonly target: bigint | undefined;
  readonly round: number | undefined;
  readonly tenant: string | undefined;
  readonly source: string | undefined;
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly hasTime: boolean;
}

const TAKEN = columns<TakenValues>({
  id: bigint("taken.id"),
  eventId: bigint("taken.event_id"),
  target: optional(bigint("target_consumer_id")),
  round: optional(number("round")),
  tenant: optional(text("tenant")),
  source: optional(text("source")),
  type: optional(text("type")),
  key: optional(text("key")),
  hasTime: boolean("deliver_at is not null"),
});

/** Takes up to so many from the front of the stage; they are gone when the transaction commits. */
export async function takeStaged(session: Session, limit: number, tables: Tables): Promise<Taken> {
  const { rows } = await session.query({ text: TAKE(tables), params: [String(limit)], prepared: true });
  const [config, ...staged] = rows.map((row) => TAKEN.read(row));
  return { staged: staged.map(stagedOf), configVersion: String(config?.eventId) };
}

function stagedOf({ id, eventId, target, round = 1, hasTime, ...values }: TakenValues): Staged {
  const { tenant, source = "", type = "", key } = values;
  return {
    id,
    eventId,
    target,
    round,
    waited: hasTime && target === undefined,
    event: tenant === undefined ? undefined : { tenant, source, type, key },
  };
}

// What the delete returns is the truth. The ids are found first, as an array: a join with the ones to delete was
// planned as a scan of the whole stage. The first row has the version of the consumers in place of an event.
const TAKE = sqlFor(
  ({ stage, event, outboxConfig }) => `
    with gone as (
      delete from ${stage} where id = any (array(select id from ${stage} order by id limit $1::text::int8))
      returning id, event_id, target_consumer_id, round
    )
    select ${TAKEN.list}
    from (
      select gone.id, gone.event_id, target_consumer_id, round, tenant, source, type, key, deliver_at
      from gone left join lateral (
        select tenant, source, type, key, deliver_at from ${event} as event where event.id = gone.event_id limit 1
      ) as published on true
      union all
      select -1, (select version from ${outboxConfig} where one), null, null, null, null, null, null, null
    ) as taken
    order by taken.id`,
);

/** Sets the first one aside, and says which event it was. */
export async function buryFirst(
  session: Session,
  error: string,
  { stage, stageDead }: Tables,
): Promise<bigint | undefined> {
  const { rows } = await session.query({
    text: `
      with gone as (
        delete from ${stage} where id = any (array(select id from ${stage} order by id limit 1))
        returning id, event_id, target_consumer_id, round
      )
      insert into ${stageDead} (id, event_id, target_consumer_id, round, error, died_at)
      select id, event_id, target_consumer_id, round, $1::text, clock_timestamp() from gone
      returning event_id::text as event_id`,
    params: [error],
  });
  const eventId = rows[0]?.[0];
  return typeof eventId === "string" ? BigInt(eventId) : undefined;
}
