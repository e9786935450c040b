import type { IncomingEvent, Ingested } from "../../../outbox/ingest-store.js";
import { numberArray, packBytes, textArray } from "../client/column-arrays.js";
import type { Answer, Parameter, Scope, Session, Statement } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import {
  EVENT_COLUMNS,
  EVENT_PARAMS,
  EVENT_VALUES,
  eventParams,
  GIVEN_EVENTS,
  isPlain,
  PLAIN_COLUMNS,
  PLAIN_VALUES,
  plainParams,
} from "./write.js";
import type { OwnTransactions } from "../client/own-transaction.js";

/** One name of one event of a batch. */
interface GivenName {
  /** The event's place in the batch. */
  readonly nth: number;
  readonly tenant: string;
  readonly name: string;
  readonly bodyHash: Uint8Array | undefined;
  readonly windowS: number | undefined;
  /** The event's own id. */
  readonly id: string;
}

/** A name as it stands in the database after ours were written. */
interface StandingName {
  readonly given: GivenName;
  /** Of the event that it names. */
  readonly id: string;
  /** False where it came with another body. */
  readonly same: boolean;
}

// Of a batch in which more have come before, those are better looked at in the transaction that finds them.
const FEW_LOST = 1 / 8;

/** Writes incoming events together with their names. No two of a batch may share a name. */
export class IngestWriter {
  readonly #tables: OutboxTables;
  readonly #sql: string;
  readonly #plainSql: string;
  #mostAreNew = true;

  constructor(tables: OutboxTables) {
    this.#tables = tables;
    this.#sql = ingestSql(tables);
    this.#plainSql = plainSql(tables);
  }

  /** Says of each what became of it. Done twice, it says the same. */
  write(transactions: OwnTransactions, batch: readonly IncomingEvent[]): Promise<readonly Ingested[]> {
    const names = namesOf(batch);
    // One that has two, and keeps one of them for an event that came before, has to change it before the commit.
    return this.#mostAreNew && names.length === batch.length
      ? this.#writeNew(transactions, batch, names)
      : this.#writeAny(transactions, batch, names);
  }

  /** Committed as it is written, without a wait for this process in between. Those that came before are written again, to be judged. */
  async #writeNew(
    transactions: OwnTransactions,
    batch: readonly IncomingEvent[],
    names: readonly GivenName[],
  ): Promise<readonly Ingested[]> {
    const plain = batch.every(({ event }) => isPlain(event));
    const statement = plain ? this.#plainStatement(batch) : this.#statement(batch, names);
    const lost = lostIn(await transactions.write(statement));
    if (lost.size === 0) return batch.map(stored);
    const known = batch.filter((_, nth) => lost.has(nth));
    const judged = (await this.#writeAny(transactions, known, namesOf(known))).values();
    // Only now: of those alone, all came before.
    this.#noteLost(lost, batch);
    return batch.map((each, nth) => (lost.has(nth) ? (judged.next().value as Ingested) : stored(each)));
  }

  #writeAny(
    transactions: OwnTransactions,
    batch: readonly IncomingEvent[],
    names: readonly GivenName[],
  ): Promise<readonly Ingested[]> {
    return transactions.runFrom(this.#statement(batch, names), (scope, answer) => {
      const lost = lostIn(answer);
      this.#noteLost(lost, batch);
      return this.#ingested(scope, batch, { names, lost });
    });
  }

  #noteLost({ size }: ReadonlySet<number>, { length }: readonly IncomingEvent[]): void {
    this.#mostAreNew = size <= length * FEW_LOST;
  }

  #statement(batch: readonly IncomingEvent[], names: readonly GivenName[]): Statement {
    const hashes = packBytes(names.map(({ bodyHash }) => bodyHash));
    return {
      text: this.#sql,
      params: [
        ...eventParams(batch.map(({ event }) => event)),
        ...namedParams(names),
        numberArray(names.map(({ nth }) => nth + 1)),
        hashes.starts,
        hashes.lengths,
        hashes.bytes,
        numberArray(names.map(({ windowS }) => windowS)),
        textArray(names.map(({ id }) => id)),
      ],
      prepared: true,
    };
  }

  #plainStatement(batch: readonly IncomingEvent[]): Statement {
    const hashes = packBytes(batch.map(({ names }) => names[0].bodyHash));
    return {
      text: this.#plainSql,
      params: [
        ...plainParams(batch.map(({ event }) => event)),
        textArray(batch.map(({ names }) => names[0].name)),
        hashes.starts,
        hashes.lengths,
        hashes.bytes,
        numberArray(batch.map(({ windowS }) => windowS)),
      ],
      prepared: true,
    };
  }

  async #ingested(
    scope: Scope<unknown>,
    batch: readonly IncomingEvent[],
    { names, lost }: { readonly names: readonly GivenName[]; readonly lost: ReadonlySet<number> },
  ): Promise<readonly Ingested[]> {
    const ingested = batch.map(stored);
    if (lost.size === 0) return ingested;
    const standing = await this.#standing(
      scope,
      names.filter(({ nth }) => lost.has(nth)),
    );
    for (const ofOne of byEvent(standing)) ingested[ofOne[0].given.nth] = judge(ofOne);
    scope.closing = this.#mend(standing, ingested);
    return ingested;
  }

  /** By a statement that sees what the first one's snapshot was too old for. Every one of these names is locked by the first. */
  async #standing(session: Session, names: readonly GivenName[]): Promise<readonly StandingName[]> {
    const hashes = packBytes(names.map(({ bodyHash }) => bodyHash));
    const { rows } = await session.query({
      text: `
        select n::text, known.event_id,
          (known.body_hash <> substring($5::bytea from hash_start for hash_length))::text
        from unnest($1::text[], $2::text[], $3::int4[], $4::int4[]) with ordinality
          as given (tenant, name, hash_start, hash_length, n)
        cross join lateral (
          select event_id, body_hash from ${this.#tables.name} as known
          where known.tenant = given.tenant and known.name = given.name limit 1
        ) as known
        order by n`,
      params: [...namedParams(names), hashes.starts, hashes.lengths, hashes.bytes],
      prepared: true,
    });
    return rows.map(([n, id, other]) => ({
      given: names[Number(n) - 1] as GivenName,
      id: id ?? "",
      same: other !== "true",
    }));
  }

  /**
   * The other names of an event that came before are its names too; of one that is refused, what was written goes again.
   * A window is only ever lengthened, and a name that comes again and again is written once a minute.
   */
  #mend(standing: readonly StandingName[], ingested: readonly Ingested[]): Statement {
    const kindOf = ({ given }: StandingName): Ingested["kind"] | undefined => ingested[given.nth]?.kind;
    const refused = standing.filter((name) => kindOf(name) === "conflict" && name.id === name.given.id);
    const known = standing.filter((name) => kindOf(name) === "duplicate");
    return {
      text: `
        with forgotten as (
          delete from ${this.#tables.name} as known using unnest($1::text[], $2::text[]) as gone (tenant, name)
          where known.tenant = gone.tenant and known.name = gone.name
        )
        update ${this.#tables.name} as known set event_id = given.event_id,
          keep_until = case when known.keep_until is not null and window_s is not null
            then greatest(known.keep_until, clock_timestamp() + make_interval(secs => window_s)) end
        from unnest($3::text[], $4::text[], $5::text[], $6::float8[]) as given (tenant, name, event_id, window_s)
        where known.tenant = given.tenant and known.name = given.name and (
          known.event_id <> given.event_id or (known.keep_until is not null and window_s is null)
          or known.keep_until < clock_timestamp() + make_interval(secs => window_s - least(60, window_s / 10))
        )`,
      params: [
        ...namedParams(refused.map(({ given }) => given)),
        ...namedParams(known.map(({ given }) => given)),
        textArray(known.map(({ given, id }) => (id === given.id ? ingested[given.nth]?.id : id))),
        numberArray(known.map(({ given }) => given.windowS)),
      ],
      prepared: true,
    };
  }
}

function stored({ event: { id } }: IncomingEvent): Ingested {
  return { kind: "stored", id };
}

type NamesOfOne = [StandingName, ...StandingName[]];

/** The names of each event, in the order in which they were given. */
function byEvent(standing: readonly StandingName[]): Iterable<NamesOfOne> {
  const events = new Map<number, NamesOfOne>();
  for (const name of standing) {
    const ofOne = events.get(name.given.nth);
    if (ofOne) ofOne.push(name);
    else events.set(name.given.nth, [name]);
  }
  return events.values();
}

/** What becomes of an event that has met names. */
function judge(names: NamesOfOne): Ingested {
  const before = names.filter(({ given, id }) => id !== given.id);
  const changed = before.find(({ same }) => !same);
  if (changed) return { kind: "conflict", id: changed.id };
  const [first] = before;
  // All of them are its own: it was stored by a commit whose answer was lost.
  return first ? { kind: "duplicate", id: first.id } : { kind: "stored", id: names[0].given.id };
}

function namesOf(batch: readonly IncomingEvent[]): readonly GivenName[] {
  return batch.flatMap(({ event: { id, tenant }, names, windowS }, nth) => {
    // The same name twice in one statement would be refused.
    const distinct = new Map(names.toReversed().map((each) => [each.name, each]));
    return [...distinct.values()]
      .toReversed()
      .map(({ name, bodyHash }) => ({ nth, tenant, name, bodyHash, windowS, id }));
  });
}

function namedParams(names: readonly GivenName[]): Parameter[] {
  return [textArray(names.map(({ tenant }) => tenant)), textArray(names.map(({ name }) => name))];
}

function lostIn({ rows }: Answer): ReadonlySet<number> {
  return new Set(rows.map(([nth]) => Number(nth) - 1));
}

// What most batches are: plain events with one name each. One list in place of two, and half of the statement's parts.
function plainSql({ event, name, stage }: OutboxTables): string {
  return `
    with given as materialized (
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[],
        $8::int4[], $9::int4[], $11::text[], $12::int4[], $13::int4[], $15::float8[]) with ordinality
      as given (public_id, tenant, source, type, key, content_type, event_ms, body_start, body_length, name,
        hash_start, hash_length, window_s, n)
    ), won as (
      insert into ${name} as known (tenant, name, event_id, body_hash, keep_until)
      select tenant, name, public_id, substring($14::bytea from hash_start for hash_length),
        clock_timestamp() + make_interval(secs => window_s)
      from given order by tenant collate "C", name collate "C"
      ${TAKE_PASSED}
      returning tenant, name
    ), lost as materialized (
      select n from given where (tenant, name) not in (select tenant, name from won)
    ), written as (
      insert into ${event} (${PLAIN_COLUMNS})
      select ${PLAIN_VALUES} from given where n not in (select n from lost) order by n
      returning id
    ), staged as (
      insert into ${stage} (event_id) select id from written order by id
    )
    select n::text from lost`;
}

/** The parameters after those of the events. */
function $(offset: number): string {
  return `$${EVENT_PARAMS + offset}`;
}

/** In place of a name whose window has passed; one whose has not is only locked. */
const TAKE_PASSED = `on conflict (tenant, name) do update
        set event_id = excluded.event_id, body_hash = excluded.body_hash, keep_until = excluded.keep_until
        where known.keep_until <= clock_timestamp()`;

// Names are taken in the order of their bytes, as everyone does: taken in any order, two nodes that share two names wait
// for each other. One that is known is locked by this, until the commit, so that what is read of it then stays so. What
// is `not in` is looked up in a hash; a join of these lists would compare each with each.
function ingestSql({ event, name, stage, later }: OutboxTables): string {
  return `
    with named as materialized (
      select tenant, name, nth, public_id, window_s,
        substring(${$(6)}::bytea from hash_start for hash_length) as body_hash
      from unnest(${$(1)}::text[], ${$(2)}::text[], ${$(3)}::int4[], ${$(4)}::int4[], ${$(5)}::int4[],
        ${$(7)}::float8[], ${$(8)}::text[]) as named (tenant, name, nth, hash_start, hash_length, window_s, public_id)
    ), won as (
      insert into ${name} as known (tenant, name, event_id, body_hash, keep_until)
      select tenant, name, public_id, body_hash, clock_timestamp() + make_interval(secs => window_s)
      from named order by tenant collate "C", name collate "C"
      ${TAKE_PASSED}
      returning tenant, name
    ), lost as materialized (
      select distinct nth from named where (tenant, name) not in (select tenant, name from won)
    ), written as (
      insert into ${event} (${EVENT_COLUMNS})
      select ${EVENT_VALUES} from ${GIVEN_EVENTS} where n not in (select nth from lost) order by n
      returning id, deliver_at
    ), clock as materialized (
      select clock_timestamp() as at
    ), put_off as (
      insert into ${later} (deliver_at, event_id) select deliver_at, id from written, clock where deliver_at > at
    ), staged as (
      insert into ${stage} (event_id)
      select id from written, clock where deliver_at is null or deliver_at <= at order by id
    )
    select nth::text from lost`;
}
