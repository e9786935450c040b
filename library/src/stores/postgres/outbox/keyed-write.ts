import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { booleanArray, numberArray, packBytes, textArray } from "../client/column-arrays.js";
import type { Session } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import { EVENT_COLUMNS, EVENT_VALUES, eventParams, GIVEN_EVENTS } from "./write.js";

/** The events of one caller, which are written together or not at all. */
export type Call = readonly OutgoingEvent[];

interface Given {
  readonly event: OutgoingEvent;
  readonly call: number;
}

/** What the database said of one event. `lost`: its id was committed by another while the statement ran. */
interface Found {
  readonly verdict: Written | "lost";
  readonly rowId: string | undefined;
}

/** Writes events of which some have ids that their publishers gave. Needs a transaction, because what was written of a call is taken back when one of its ids turns out to be a conflict. */
export class KeyedWriter {
  readonly #tables: OutboxTables;
  readonly #sql: string;

  constructor(tables: OutboxTables) {
    this.#tables = tables;
    this.#sql = writeSql(tables);
  }

  /** Says for each call what became of its events. */
  async write(session: Session, calls: readonly Call[]): Promise<readonly (readonly Written[])[]> {
    const batch = new Batch(calls);
    if (batch.given.length > 0) {
      const found = await this.#insert(session, batch.given);
      await this.#resolve(session, batch.given, found);
      await this.#undo(session, batch.given, found);
      batch.learn(found.map(({ verdict }) => verdict as Written));
    }
    return batch.verdicts();
  }

  async #insert(session: Session, given: readonly Given[]): Promise<Found[]> {
    const events = given.map(({ event }) => event);
    const hashes = packBytes(events.map(({ contentHash }) => contentHash));
    const { rows } = await session.query({
      text: this.#sql,
      params: [
        ...eventParams(events),
        booleanArray(events.map(({ idGiven }) => idGiven)),
        numberArray(given.map(({ call }) => call)),
        hashes.starts,
        hashes.lengths,
        hashes.bytes,
      ],
    });
    return rows.map(([verdict, rowId]) => ({
      verdict: verdict as Found["verdict"],
      rowId: rowId ?? undefined,
    }));
  }

  /** Reads again, by a statement that sees what the first one's snapshot was too old for. */
  async #resolve(session: Session, given: readonly Given[], found: Found[]): Promise<void> {
    const lost = found.flatMap(({ verdict }, n) => (verdict === "lost" ? [n] : []));
    if (lost.length === 0) return;
    const events = lost.map((n) => (given[n] as Given).event);
    const hashes = packBytes(events.map(({ contentHash }) => contentHash));
    const { rows } = await session.query({
      text: `
        select case when known.body_hash = substring($5::bytea from hash_start for hash_length)
          then 'duplicate' else 'conflict' end
        from unnest($1::text[], $2::text[], $3::int4[], $4::int4[]) with ordinality
          as given (tenant, public_id, hash_start, hash_length, n)
        left join ${this.#tables.key} as known using (tenant, public_id) order by n`,
      params: [
        textArray(events.map(({ tenant }) => tenant)),
        textArray(events.map(({ id }) => id)),
        hashes.starts,
        hashes.lengths,
        hashes.bytes,
      ],
    });
    lost.forEach((n, index) => {
      found[n] = { verdict: rows[index]?.[0] as Written, rowId: undefined };
    });
  }

  /** Takes back what was written of calls that have a conflict after all: only after a lost race. */
  async #undo(session: Session, given: readonly Given[], found: readonly Found[]): Promise<void> {
    const refused = new Set(
      found.flatMap(({ verdict }, n) => (verdict === "conflict" ? [given[n]?.call] : [])),
    );
    const undone = found.flatMap(({ rowId }, n) =>
      rowId !== undefined && refused.has(given[n]?.call) ? [n] : [],
    );
    if (undone.length === 0) return;
    const { event, stage, later, key } = this.#tables;
    const keyed = undone.map((n) => (given[n] as Given).event).filter(({ idGiven }) => idGiven);
    await session.query({
      text: `
        with unstaged as (
          delete from ${stage} where event_id = any ($1::int8[])
        ), unplanned as (
          delete from ${later} where event_id = any ($1::int8[])
        ), forgotten as (
          delete from ${key} as known using unnest($2::text[], $3::text[]) as given (tenant, public_id)
          where known.tenant = given.tenant and known.public_id = given.public_id
        )
        delete from ${event} where id = any ($1::int8[])`,
      params: [
        numberArray(undone.map((n) => BigInt(found[n]?.rowId ?? ""))),
        textArray(keyed.map(({ tenant }) => tenant)),
        textArray(keyed.map(({ id }) => id)),
      ],
    });
  }
}

/** Calls that are written together. An id that comes twice in one call is judged here; no two calls may share one. */
class Batch {
  readonly given: Given[] = [];
  readonly #verdicts: Written[][];
  readonly #places: { readonly call: number; readonly index: number }[] = [];

  constructor(calls: readonly Call[]) {
    this.#verdicts = calls.map((events) => events.map((): Written => "written"));
    calls.forEach((events, call) => this.#add(events, call));
  }

  #add(events: Call, call: number): void {
    const firsts = new Map<string, OutgoingEvent>();
    const verdicts = events.map((event): Written => {
      if (!event.idGiven) return "written";
      const name = keyName(event);
      const first = firsts.get(name);
      if (first === undefined) firsts.set(name, event);
      else return sameBody(first, event) ? "duplicate" : "conflict";
      return "written";
    });
    this.#verdicts[call] = verdicts;
    if (verdicts.includes("conflict")) return;
    events.forEach((event, index) => {
      if (verdicts[index] !== "written") return;
      this.given.push({ event, call });
      this.#places.push({ call, index });
    });
  }

  learn(verdicts: readonly Written[]): void {
    verdicts.forEach((verdict, n) => {
      const place = this.#places[n];
      const ofCall = place && this.#verdicts[place.call];
      if (place && ofCall) ofCall[place.index] = verdict;
    });
  }

  verdicts(): readonly (readonly Written[])[] {
    return this.#verdicts;
  }
}

/** Names a given id among those of all tenants. */
export function keyName({ tenant, id }: OutgoingEvent): string {
  return `${tenant}\n${id}`;
}

function sameBody({ contentHash: one }: OutgoingEvent, { contentHash: two }: OutgoingEvent): boolean {
  return one !== undefined && two !== undefined && one.every((byte, n) => byte === two[n]);
}

// Keys are inserted in their order: batches that share ids and take them in any order meet in deadlocks. A key that
// was committed after the statement's snapshot is in neither `known` nor `keyed`: that is a lost race.
function writeSql({ event, key, stage, later }: OutboxTables): string {
  return `
    with given as materialized (
      select given.*, id_given, call, substring($18::bytea from hash_start for hash_length) as body_hash
      from ${GIVEN_EVENTS}
      join unnest($14::bool[], $15::int4[], $16::int4[], $17::int4[]) with ordinality
        as more (id_given, call, hash_start, hash_length, n) using (n)
    ), known as materialized (
      select n, call, found.body_hash = given.body_hash as same from given
      cross join lateral (
        select body_hash from ${key} as taken
        where taken.tenant = given.tenant and taken.public_id = given.public_id limit 1
      ) as found
      where id_given
    ), fresh as materialized (
      select * from given
      where n not in (select n from known) and call not in (select call from known where not same)
    ), keyed as (
      insert into ${key} (tenant, public_id, body_hash)
      select tenant, public_id, body_hash from fresh where id_given order by tenant, public_id
      on conflict (tenant, public_id) do nothing returning tenant, public_id
    ), written as (
      insert into ${event} (${EVENT_COLUMNS})
      select ${EVENT_VALUES} from fresh
      where not id_given or (tenant, public_id) in (select tenant, public_id from keyed) order by n
      returning id, deliver_at, tenant, public_id
    ), clock as materialized (
      select clock_timestamp() as at
    ), put_off as (
      insert into ${later} (deliver_at, event_id) select deliver_at, id from written, clock where deliver_at > at
    ), staged as (
      insert into ${stage} (event_id)
      select id from written, clock where deliver_at is null or deliver_at <= at order by id
    )
    select
      case when same then 'duplicate' when not same then 'conflict'
        when id is null and n in (select n from fresh) then 'lost' else 'written' end,
      id::text
    from given left join known using (n) left join written using (tenant, public_id) order by n`;
}
