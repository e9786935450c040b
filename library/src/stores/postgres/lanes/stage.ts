import type { Addressed } from "../../../outbox/fan-out.js";
import type { Answer, Session, Statement } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** An event that waits for its places. */
export interface Staged {
  readonly id: bigint;
  readonly eventId: bigint;
  /** Of a redrive: where alone it goes. */
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
  /** Of the endpoints, as they are now. */
  readonly configVersion: string;
}

/** What the attempt to lock came to. */
export interface Locked {
  readonly got: boolean;
  /** Whether an event that had to wait for its time is due. */
  readonly due: boolean;
}

export function lockedOf({ rows }: Answer): Locked {
  const [got, due] = rows[0] ?? [];
  return { got: got !== "false", due: due === "true" };
}

/** Rows from the front of the stage. The lock of the sequencer must be held, by an earlier statement: a snapshot that is older than the lock shows rows that another has just consumed. */
export class Stage {
  readonly #tables: OutboxTables;
  readonly #takeSql: string;

  constructor(tables: OutboxTables) {
    this.#tables = tables;
    this.#takeSql = takeSql(tables);
  }

  /** Whether a sequencer would find something to do. */
  async isWaiting(session: Session): Promise<boolean> {
    const { stage, later } = this.#tables;
    const { rows } = await session.query({
      text: `
        select (exists (select from ${stage})
          or exists (select from ${later} where deliver_at <= (select clock_timestamp())))::text`,
      params: [],
    });
    return rows[0]?.[0] === "true";
  }

  /** Takes the lock, or says that another has it; read by {@link lockedOf}. */
  tryLock(): Statement {
    return {
      text: this.#lockSql(`pg_try_advisory_xact_lock(${this.#lockKey()})::text`),
      params: [],
      prepared: true,
    };
  }

  /** Waits for the lock. */
  async lock(session: Session): Promise<Locked> {
    return lockedOf(
      await session.query({
        text: this.#lockSql(`pg_advisory_xact_lock(${this.#lockKey()})::text`),
        params: [],
      }),
    );
  }

  #lockSql(lock: string): string {
    const { later } = this.#tables;
    return `select ${lock}, exists (select from ${later} where deliver_at <= (select clock_timestamp()))::text`;
  }

  /** Moves what is due by now to the stage's end: it takes its place in its lanes now. */
  async moveDue(session: Session, limit: number): Promise<void> {
    const { stage, later } = this.#tables;
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

  /** Takes up to so many, lowest numbers first; they are gone when the transaction commits. */
  async take(session: Session, limit: number): Promise<Taken> {
    const { rows } = await session.query({ text: this.#takeSql, params: [String(limit)], prepared: true });
    const staged = rows.slice(1).map(([id, eventId, target, round, tenant, source, type, key, waited]) => ({
      id: BigInt(id ?? ""),
      eventId: BigInt(eventId ?? ""),
      target: typeof target === "string" ? BigInt(target) : undefined,
      round: Number(round),
      waited: waited === "true" && typeof target !== "string",
      event:
        typeof tenant === "string"
          ? { tenant, source: source ?? "", type: type ?? "", key: key ?? undefined }
          : undefined,
    }));
    return { staged, configVersion: rows[0]?.[1] ?? "" };
  }

  /** Sets the first one aside, and says which it was. */
  async bury(session: Session, error: string): Promise<bigint | undefined> {
    const { stage, stageDead } = this.#tables;
    const { rows } = await session.query({
      text: `
        with gone as (
          delete from ${stage} where id = any (array(select id from ${stage} order by id limit 1))
          returning id, event_id, target_endpoint_id, round
        )
        insert into ${stageDead} (id, event_id, target_endpoint_id, round, error, died_at)
        select id, event_id, target_endpoint_id, round, $1::text, clock_timestamp() from gone
        returning event_id::text`,
      params: [error],
    });
    return typeof rows[0]?.[0] === "string" ? BigInt(rows[0][0]) : undefined;
  }

  #lockKey(): string {
    return `hashtextextended('posthorn.sequence', '${this.#tables.stage}'::regclass::oid::int8)`;
  }
}

// What the delete returns is the truth. The ids are found first, as an array: a join with the ones to delete was
// planned as a scan of the whole stage. The first row has the version of the endpoints.
function takeSql({ stage, event, config }: OutboxTables): string {
  return `
    with gone as (
      delete from ${stage} where id = any (array(select id from ${stage} order by id limit $1::text::int8))
      returning id, event_id, target_endpoint_id, round
    )
    select id::text, event_id::text, target_endpoint_id::text, round::text, tenant, source, type, key,
      (deliver_at is not null)::text
    from (
      select gone.id, gone.event_id, target_endpoint_id, round, tenant, source, type, key, deliver_at
      from gone left join lateral (
        select tenant, source, type, key, deliver_at from ${event} where ${event}.id = gone.event_id limit 1
      ) as published on true
      union all
      select -1, (select version from ${config} where one), null, null, null, null, null, null, null
    ) as taken
    order by taken.id`;
}
