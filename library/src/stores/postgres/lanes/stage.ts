import type { Addressed } from "../../../outbox/fan-out.js";
import { MARKED } from "../../../receipt.js";
import { textArray } from "../client/column-arrays.js";
import { bigint, boolean, columns, number, optional, text } from "../client/columns.js";
import type { Answer, Session, Statement } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import type { ProgressValues } from "./unclaimed.js";
import { isStagingSql, PROGRESS, progressOf, stageUnclaimed, waitsBy } from "./unclaimed.js";

/** An event that waits for its places. */
export interface Staged {
  readonly tenant: string;
  readonly id: bigint;
  /** Where its row is; nothing moves it while the stage is locked. */
  readonly row: string;
  readonly eventId: bigint;
  /** Undefined where the event itself is gone. */
  readonly publicId: string | undefined;
  /** Of a redrive: the number of the only consumer that it goes to. */
  readonly target: bigint | undefined;
  readonly round: number;
  /** The last consumer that has its place, where the event was given a part of its places. */
  readonly after: bigint | undefined;
  /** Whether it was not to be delivered before a time that has come. */
  readonly waited: boolean;
  /** Undefined where the event itself is gone. */
  readonly event: Addressed | undefined;
  /** Of an event that may have to be held until its turn comes. */
  readonly receipt: string | undefined;
}

/** What cannot be given its places for what it is, and not because the database would not work. */
export class Unplaceable extends Error {}

/** The first events of each tenant whose turn it is. */
export interface Taken {
  /** By tenant, in their turns; of each in the order of the stage. */
  readonly queues: readonly (readonly Staged[])[];
  /** Whether a tenant may have more than was taken of it. */
  readonly more: boolean;
  /** Of the consumers, as they are now. */
  readonly mark: string;
}

/** What the attempt to lock came to. */
export interface StageLock {
  readonly got: boolean;
  /**
   * Whether an event that had to wait for its time is due, one that is held has waited for long enough, a place was filled, or
   * something that was set aside is to be staged.
   */
  readonly due: boolean;
  /** Whether something waits for a consumer that was removed. */
  readonly removed: boolean;
}

/** What a sequencer would find to do. */
export interface Work {
  readonly staged: boolean;
  /** Whether something waits for a consumer that was removed. */
  readonly removed: boolean;
}

// Everything here but `readWork` needs the lock of the sequencer, taken by an earlier statement: a snapshot that is older
// than the lock shows rows that another process has just consumed.

export async function readWork(session: Session, tables: Tables): Promise<Work> {
  const { rows } = await session.query({ text: WORK(tables), params: [], prepared: true });
  const [staged, removed] = rows[0] ?? [];
  return { staged: staged === "true", removed: removed === "true" };
}

const WORK = sqlFor(
  (tables) => `
    select (exists (select from ${tables.stage}) or ${isDueSql(tables)})::text as staged,
      ${isRemovedSql(tables)}::text as removed`,
);

function isDueSql(tables: Tables): string {
  const { later, held, filled } = tables;
  return `(exists (select from ${later} where deliver_at <= (select clock_timestamp()))
      or exists (select from ${held} where until <= (select clock_timestamp()))
      or exists (select from ${filled} where not judged)
      or ${isStagingSql(tables)})`;
}

function isRemovedSql({ consumer }: Tables): string {
  return `exists (select from ${consumer} where removed_at is not null and cleared_at is null)`;
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
  const [got, due, removed] = rows[0] ?? [];
  return { got: got !== "false", due: due === "true", removed: removed === "true" };
}

function lockKey({ stage }: Tables): string {
  return `hashtextextended('posthorn.sequence', '${stage}'::regclass::oid::int8)`;
}

const TRY_LOCK = sqlFor(
  (tables) =>
    `select pg_try_advisory_xact_lock(${lockKey(tables)})::text as got, ${isDueSql(tables)}::text as due,
      ${isRemovedSql(tables)}::text as removed`,
);

const LOCK = sqlFor(
  (tables) =>
    `select pg_advisory_xact_lock(${lockKey(tables)})::text as got, ${isDueSql(tables)}::text as due,
      ${isRemovedSql(tables)}::text as removed`,
);

/**
 * Moves what is due by now to the end of the stage: it takes its place in its lanes now. Says how much was moved. What was set
 * aside and is to be staged again comes before what is taken after this.
 */
export async function moveDue(session: Session, limit: number, tables: Tables): Promise<number> {
  const { rows } = await session.query({ text: MOVE_DUE(tables), params: [String(limit)], prepared: true });
  const moved = MOVED.read(rows[0] ?? []);
  const unclaimed = progressOf(moved);
  if (unclaimed !== undefined) await stageUnclaimed(session, unclaimed, tables);
  return moved.count;
}

const MOVED = columns<ProgressValues & { readonly count: number }>({
  count: number("(select count(*) from moved)"),
  ...PROGRESS,
});

// Where the event is gone, nobody knows its tenant; the row is set aside then, as one of nobody's.
const MOVE_DUE = sqlFor(
  ({ stage, later, event, outboxConfig }) => `
    with due as (
      delete from ${later} where ctid = any (array(
        select ctid from ${later} where deliver_at <= (select clock_timestamp())
        order by deliver_at, event_id limit $1::text::int8
      )) returning deliver_at, event_id
    ), moved as (
      insert into ${stage} (tenant, event_id)
      select coalesce((select tenant from ${event} as event where event.id = due.event_id limit 1), ''), event_id
      from due order by deliver_at, event_id
      returning 1
    )
    select ${MOVED.list} from ${outboxConfig} where one`,
);

interface TakenValues {
  /**
   * The turn of its tenant, from 1 on; 0 for the row that has the mark of the consumers in place of an event's id, and of what
   * is staged again its number in place of a consumer's, and the sources in place of a receipt.
   */
  readonly nth: number;
  readonly tenant: string;
  readonly id: bigint;
  readonly row: string;
  readonly eventId: bigint;
  readonly target: bigint | undefined;
  readonly round: number;
  readonly after: bigint | undefined;
  readonly publicId: string | undefined;
  readonly source: string | undefined;
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly isStored: boolean;
  readonly hasTime: boolean;
  readonly receipt: string | undefined;
  /** How much was taken of each tenant at most. */
  readonly share: number;
}

const TAKEN = columns<TakenValues>({
  nth: number("nth"),
  tenant: text("tenant"),
  id: bigint("id"),
  row: text("at::text"),
  eventId: bigint("event_id"),
  target: optional(bigint("target_consumer_id")),
  round: number("round"),
  after: optional(bigint("after_consumer_id")),
  publicId: optional(text("public_id")),
  source: optional(text("source")),
  type: optional(text("type")),
  key: optional(text("key")),
  isStored: boolean("coalesce(is_stored, false)"),
  hasTime: boolean("deliver_at is not null"),
  receipt: optional(text("receipt")),
  share: number("share"),
});

/** How much is taken, and of whom. */
export interface Take {
  readonly limit: number;
  /** The tenant that had its turn last: the others come before it. */
  readonly cursor: string;
  /** Undefined: of every tenant in turn. */
  readonly only: string | undefined;
}

/** Reads the first events of tenants, and locks their rows: what is not consumed later is as it was. */
export async function takeStaged(
  session: Session,
  { limit, cursor, only }: Take,
  tables: Tables,
): Promise<Taken> {
  const { rows } = await session.query(
    only === undefined
      ? { text: TAKE(tables), params: [cursor, String(limit)], prepared: true }
      : { text: TAKE_OF_ONE(tables), params: [only, String(limit)], prepared: true },
  );
  // The first row tells of the outbox: the mark of the consumers, and how far the staging of what was set aside is.
  const [outbox, ...taken] = rows.map((row) => TAKEN.read(row));
  const waits = waitsBy(progressOf({ unclaimedAfter: outbox?.after, unclaimedSources: outbox?.receipt }));
  const queues: Staged[][] = [];
  const counts: number[] = [];
  let more = waits !== undefined;
  for (const { nth, share, ...values } of taken) {
    const queue = (queues[nth - 1] ??= []);
    if (!waits?.(values)) queue.push(stagedOf(values));
    const count = (counts[nth - 1] ?? 0) + 1;
    counts[nth - 1] = count;
    more ||= count === share;
  }
  return { queues: queues.filter((queue) => queue !== undefined), more, mark: outbox?.publicId ?? "" };
}

function stagedOf(values: Omit<TakenValues, "nth" | "share">): Staged {
  const { hasTime, source = "", type = "", key, isStored, ...rest } = values;
  const { tenant, publicId, target } = rest;
  return {
    ...rest,
    waited: hasTime && target === undefined,
    event: publicId === undefined ? undefined : { tenant, source, type, key, isStored },
  };
}

// By steps from one tenant to the next in the index, so that the many events of one cost the others nothing.
function tenantsSql(name: string, first: string, { stage }: Tables): string {
  return `${name} (tenant) as (
      select (select tenant from ${stage} as stage where ${first} order by stage.tenant, stage.id limit 1)
      union all
      select (
        select tenant from ${stage} as stage where stage.tenant > ${name}.tenant order by stage.tenant, stage.id limit 1
      ) from ${name} where ${name}.tenant is not null
    )`;
}

const TAKE = sqlFor((tables) =>
  takeSql(
    `${tenantsSql("ahead", "stage.tenant > $1::text", tables)}, ${tenantsSql("behind", "true", tables)},
    turn as materialized (
      select tenant, row_number() over () as nth from (
        select tenant from ahead where tenant is not null
        union all
        select tenant from behind where tenant <= $1::text
      ) as waiting limit $2::text::int8
    )`,
    tables,
  ),
);

const TAKE_OF_ONE = sqlFor((tables) =>
  takeSql("turn as materialized (select $1::text as tenant, 1 as nth)", tables),
);

// Rows are locked as they are read: what another has consumed, in spite of the lock of the stage, is not among them.
function takeSql(turn: string, { stage, event, outboxConfig }: Tables): string {
  return `
    with recursive ${turn}, share as materialized (
      select ceil($2::text::float8 / greatest(count(*), 1))::int4 as share from turn
    ), taken as materialized (
      select nth, staged.*, (select share from share) as share from turn cross join lateral (
        select ctid as at, stage.* from ${stage} as stage where stage.tenant = turn.tenant
        order by stage.id limit (select share from share) for update
      ) as staged
    )
    select ${TAKEN.list}
    from (
      select taken.*, public_id, source, type, key, is_stored, deliver_at, receipt
      from taken left join lateral (
        select public_id, source, type, key, receipt is not null as is_stored, deliver_at,
          case when receipt like '%${MARKED}%' then receipt end as receipt
        from ${event} as event where event.id = taken.event_id limit 1
      ) as published on true
      union all
      select 0, '(0,0)'::tid, '', 0, 0, null, 1, unclaimed_after, 0, mark::text, null, null, null, null, null,
        unclaimed_sources from ${outboxConfig} where one
    ) as taken (nth, at, tenant, id, event_id, target_consumer_id, round, after_consumer_id, share, public_id, source,
      type, key, is_stored, deliver_at, receipt)
    order by taken.nth, taken.id`;
}

/** Sets events aside that this transaction has taken. */
export async function setAsideTaken(
  session: Session,
  events: readonly Staged[],
  { error, tables }: { readonly error: string; readonly tables: Tables },
): Promise<void> {
  await session.query({
    text: setAsideSql("ctid = any ($2::text::tid[])", tables),
    params: [error, textArray(events.map(({ row }) => row))],
  });
}

/**
 * Sets the one event aside that could not be given its places; false where it is no longer there. By its number and its
 * event's own id: the number alone may be another event's by now, after a failover that lost commits.
 */
export async function setAsideFailed(
  session: Session,
  { tenant, id, eventId, publicId, waited }: Staged,
  { error, tables }: { readonly error: string; readonly tables: Tables },
): Promise<boolean> {
  const params = [error, tenant, String(id), String(eventId), publicId ?? null];
  const isSame = `(
          select public_id from ${tables.event} as event where event.id = $4::text::int8
        ) is not distinct from $5::text`;
  const staged = `tenant = $2::text and id = $3::text::int8 and event_id = $4::text::int8 and ${isSame}`;
  const { rows } = await session.query({ text: setAsideSql(staged, tables), params });
  if (rows.length > 0 || !waited) return rows.length > 0;
  // The step that failed had moved it to the stage, and was rolled back: it is where it had waited for its time.
  const later = await session.query({ text: setLaterAsideSql(isSame, tables), params });
  return later.rows.length > 0;
}

// The number was given by the step that was rolled back, and to nothing else.
function setLaterAsideSql(isSame: string, { later, event, stageDead }: Tables): string {
  return `
    with gone as (
      delete from ${later} where event_id = $4::text::int8 and ${isSame}
        and deliver_at = (select deliver_at from ${event} as event where event.id = $4::text::int8)
      returning event_id
    )
    insert into ${stageDead} (tenant, id, event_id, round, error, died_at)
    select $2::text, $3::text::int8, event_id, 1, $1::text, clock_timestamp() from gone
    returning id::text as id`;
}

function setAsideSql(which: string, { stage, stageDead }: Tables): string {
  const rest = "target_consumer_id, round, after_consumer_id";
  return `
    with gone as (
      delete from ${stage} where ${which} returning tenant, id, event_id, ${rest}
    )
    insert into ${stageDead} (tenant, id, event_id, ${rest}, error, died_at)
    select tenant, id, event_id, ${rest}, $1::text, clock_timestamp() from gone
    returning id::text as id`;
}
