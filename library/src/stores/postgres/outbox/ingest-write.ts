import { filledBy, filledByAnother } from "../../../hold-mark.js";
import type { FilledPlace, MarkedEvent } from "../../../hold-mark.js";
import type { IncomingEvent, Ingested } from "../../../outbox/ingest-store.js";
import { holdMarkIn, MARKED } from "../../../receipt.js";
import { boolean, columns, number, optional, text } from "../client/columns.js";
import type { Answer, Scope, Session, Statement } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { fillPlaces } from "../lanes/filled.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { EVENT_COLUMNS, EVENT_VALUES, INGESTED, stageWrittenSql } from "./write.js";

/** One name of one event of a batch. */
interface GivenName {
  /** The event's index in the batch. */
  readonly nth: number;
  readonly tenant: string;
  readonly name: string;
  readonly bodyHash: Uint8Array | undefined;
  readonly windowS: number | undefined;
  /** Whether a duplicate starts the window again. */
  readonly renews: boolean;
  /** The event's own id. */
  readonly id: string;
}

/** A name as it stands in the database after ours were written. */
interface StandingName {
  readonly given: GivenName;
  /** The id of the event that it names. */
  readonly id: string;
  /** False where its body is another than the one that is given. */
  readonly same: boolean;
}

/** Names that are given to a statement. */
const NAMES = givenRows<GivenName>(
  {
    tenant: texts(({ tenant }) => tenant),
    name: texts(({ name }) => name),
    nth: numbers("int4", ({ nth }) => nth + 1),
    window_s: numbers("float8", ({ windowS }) => windowS),
    event_id: texts(({ id }) => id),
  },
  { body_hash: ({ bodyHash }) => bodyHash },
);

/** Names alone. */
const BARE_NAMES = givenRows<GivenName>({
  tenant: texts(({ tenant }) => tenant),
  name: texts(({ name }) => name),
});

// Above one eighth of known names, a batch is judged inside of its first transaction.
const FEW_LOST = 1 / 8;

/** Writes incoming events together with their names. No two of a batch may share a name. */
export class IngestWriter {
  readonly #database: StoreDatabase;
  #mostAreNew = true;

  constructor(database: StoreDatabase) {
    this.#database = database;
  }

  /** Says of each what became of it. Done twice, it says the same. */
  write(batch: readonly IncomingEvent[]): Promise<readonly Ingested[]> {
    const names = namesOf(batch);
    // An event of two names that keeps one for an event that came before has to change it before the commit.
    return this.#mostAreNew && names.length === batch.length
      ? this.#writeNew(batch, names)
      : this.#writeAny(batch, names);
  }

  /** Writes and commits in one message. Events that were known before are then written again, in a transaction that judges them. */
  async #writeNew(
    batch: readonly IncomingEvent[],
    names: readonly GivenName[],
  ): Promise<readonly Ingested[]> {
    const { transactions, tables } = this.#database;
    const lost = lostIn(await transactions.write(writeNamed(batch, names, tables)));
    if (lost.size === 0) return batch.map(stored);
    const known = batch.filter((_, nth) => lost.has(nth));
    const judged = (await this.#writeAny(known, namesOf(known))).values();
    // After that call, which has noted its own share: of those alone, all were known.
    this.#noteLost(lost, batch);
    return batch.map((each, nth) => (lost.has(nth) ? (judged.next().value as Ingested) : stored(each)));
  }

  #writeAny(batch: readonly IncomingEvent[], names: readonly GivenName[]): Promise<readonly Ingested[]> {
    const { transactions, tables } = this.#database;
    return transactions.runFrom(writeNamed(batch, names, tables), (scope, answer) => {
      const lost = lostIn(answer);
      this.#noteLost(lost, batch);
      return judgeLost(scope, { batch, names, lost }, tables);
    });
  }

  #noteLost({ size }: ReadonlySet<number>, { length }: readonly IncomingEvent[]): void {
    this.#mostAreNew = size <= length * FEW_LOST;
  }
}

function writeNamed(batch: readonly IncomingEvent[], names: readonly GivenName[], tables: Tables): Statement {
  const events = batch.map(({ event }) => event);
  return {
    text: INGEST(tables),
    params: [...INGESTED.params(events), ...NAMES.params(names)],
    prepared: true,
  };
}

interface WrittenBatch {
  readonly batch: readonly IncomingEvent[];
  readonly names: readonly GivenName[];
  readonly lost: ReadonlySet<number>;
}

/** Says what became of a batch in which some names were known; what is left to write is sent together with the commit. */
async function judgeLost(
  scope: Scope<unknown>,
  { batch, names, lost }: WrittenBatch,
  tables: Tables,
): Promise<readonly Ingested[]> {
  const ingested = batch.map(stored);
  if (lost.size === 0) return ingested;
  const met = names.filter(({ nth }) => lost.has(nth));
  const standing = await readStanding(scope, met, tables);
  for (const ofOne of byEvent(standing)) ingested[ofOne[0].given.nth] = judge(ofOne);
  const filled = await readFilled(scope, batch, { ingested, tables });
  if (filled.length > 0) await scope.query(fillPlaces(filled, tables));
  scope.closing = mend(standing, ingested, tables);
  return ingested;
}

interface Refused {
  readonly event: IncomingEvent["event"];
  /** Of the event that was stored before. */
  readonly id: string;
}

const REFUSED = givenRows<Refused>({
  tenant: texts(({ event }) => event.tenant),
  public_id: texts(({ id }) => id),
});

const MARKED_EVENT = columns<{
  readonly n: number;
  readonly source: string;
  readonly key: string | undefined;
  readonly receipt: string;
}>({
  n: number("n"),
  source: text("event.source"),
  key: optional(text("event.key")),
  receipt: text("event.receipt"),
});

const READ_MARKED = sqlFor(
  ({ event }) => `
    select ${MARKED_EVENT.list} from ${REFUSED.table("given")}
    join ${event} as event on event.public_id = given.public_id and event.tenant = given.tenant
    where event.receipt like '%${MARKED}%'`,
);

/** The places that the events fill which are not stored. */
async function readFilled(
  session: Session,
  batch: readonly IncomingEvent[],
  { ingested, tables }: { readonly ingested: readonly Ingested[]; readonly tables: Tables },
): Promise<readonly FilledPlace[]> {
  const refused = batch.flatMap(({ event }, n): Refused[] => {
    const { kind = "stored", id = "" } = ingested[n] ?? {};
    return kind === "stored" || filledBy(event) === undefined ? [] : [{ event, id }];
  });
  if (refused.length === 0) return [];
  const params = REFUSED.params(refused);
  const { rows } = await session.query({ text: READ_MARKED(tables), params, prepared: true });
  const known = rows.map((row) => MARKED_EVENT.read(row));
  return refused.flatMap(({ event }, index) => {
    const { tenant } = event;
    const before = known
      .filter(({ n }) => n === index + 1)
      .map(({ source, key, receipt }): MarkedEvent => {
        return { tenant, source, key, receipt: { hold: holdMarkIn(receipt) } };
      });
    return filledByAnother(event, before) ?? [];
  });
}

const STANDING = columns<{ readonly n: number; readonly id: string; readonly same: boolean }>({
  n: number("n"),
  id: text("known.event_id"),
  same: boolean("coalesce(known.body_hash = given.body_hash, true)"),
});

/** Reads names by a second statement, whose snapshot shows what was committed after the first one's. The first has locked all of them. */
async function readStanding(
  session: Session,
  names: readonly GivenName[],
  tables: Tables,
): Promise<readonly StandingName[]> {
  const params = NAMES.params(names);
  const { rows } = await session.query({ text: READ_STANDING(tables), params, prepared: true });
  return rows
    .map((row) => STANDING.read(row))
    .map(({ n, id, same }) => ({ given: names[n - 1] as GivenName, id, same }));
}

const READ_STANDING = sqlFor(
  ({ ingestName }) => `
    select ${STANDING.list}
    from ${NAMES.table("given")}
    cross join lateral (
      select event_id, body_hash from ${ingestName} as known
      where known.tenant = given.tenant and known.name = given.name limit 1
    ) as known
    order by given.n`,
);

/**
 * The other names of an event that came before become its names too; of one that is refused, the names that were written
 * are removed. A window is only ever lengthened, and a name that is repeated is written once a minute.
 */
function mend(standing: readonly StandingName[], ingested: readonly Ingested[], tables: Tables): Statement {
  const kindOf = ({ given }: StandingName): Ingested["kind"] | undefined => ingested[given.nth]?.kind;
  const refused = standing.filter((name) => kindOf(name) === "conflict" && name.id === name.given.id);
  const known = standing.filter((name) => kindOf(name) === "duplicate");
  const renewed = known.map(({ given, id }) =>
    namedAs(given, id === given.id ? ingested[given.nth]?.id : id),
  );
  return {
    text: MEND(tables),
    params: [...BARE_NAMES.params(refused.map(({ given }) => given)), ...NAMES.params(renewed)],
    prepared: true,
  };
}

/** The same name, of another event. */
function namedAs(given: GivenName, id: string | undefined): GivenName {
  const { renews, windowS } = given;
  return { ...given, id: id ?? given.id, windowS: renews ? windowS : 0 };
}

const MEND = sqlFor(
  ({ ingestName }) => `
    with forgotten as (
      delete from ${ingestName} as known using ${BARE_NAMES.table("gone")}
      where known.tenant = gone.tenant and known.name = gone.name
    )
    update ${ingestName} as known set event_id = given.event_id,
      keep_until = case when known.keep_until is not null and window_s is not null
        then greatest(known.keep_until, clock_timestamp() + make_interval(secs => window_s)) end
    from ${NAMES.table("given", 1 + BARE_NAMES.size)}
    where known.tenant = given.tenant and known.name = given.name and (
      known.event_id <> given.event_id or (known.keep_until is not null and window_s is null)
      or known.keep_until < clock_timestamp() + make_interval(secs => window_s - least(60, window_s / 10))
    )`,
);

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

/** What becomes of an event of which some names were known. */
function judge(names: NamesOfOne): Ingested {
  const before = names.filter(({ given, id }) => id !== given.id);
  const changed = before.find(({ same }) => !same);
  if (changed) return { kind: "conflict", id: changed.id };
  const [first] = before;
  // All names are its own: a commit whose answer was lost has stored it.
  return first ? { kind: "duplicate", id: first.id } : { kind: "stored", id: names[0].given.id };
}

function namesOf(batch: readonly IncomingEvent[]): readonly GivenName[] {
  return batch.flatMap(({ event: { id, tenant }, names, windowS }, nth) => {
    // The same name twice in one statement would be refused.
    const distinct = new Map(names.toReversed().map((each) => [each.name, each]));
    return [...distinct.values()]
      .toReversed()
      .map(({ name, bodyHash, renews = true }) => ({ nth, tenant, name, bodyHash, windowS, renews, id }));
  });
}

function lostIn({ rows }: Answer): ReadonlySet<number> {
  return new Set(rows.map(([nth]) => Number(nth) - 1));
}

// Names are taken in the order of their bytes, as everyone does: taken in any order, two nodes that share two names wait
// for each other. A name whose window has passed is taken over; one whose has not is only locked, until the commit, so
// that what is read of it then stays so. What is `not in` is looked up in a hash; a join of these lists would compare
// each with each.
const INGEST = sqlFor(
  (tables) => `
    with named as materialized (
      select * from ${NAMES.table("named", 1 + INGESTED.size)}
    ), won as (
      insert into ${tables.ingestName} as known (tenant, name, event_id, body_hash, keep_until)
      select tenant, name, event_id, body_hash, clock_timestamp() + make_interval(secs => window_s)
      from named order by tenant collate "C", name collate "C"
      on conflict (tenant, name) do update
        set event_id = excluded.event_id, body_hash = excluded.body_hash, keep_until = excluded.keep_until
        where known.keep_until <= clock_timestamp()
      returning tenant, name
    ), lost as materialized (
      select distinct nth from named where (tenant, name) not in (select tenant, name from won)
    ), written as (
      insert into ${tables.event} (${EVENT_COLUMNS}, direction, provider_id, verified_by, receipt, caused_by)
      select ${EVENT_VALUES}, 'in', provider_id, verified_by, receipt, caused_by
      from ${INGESTED.table("given")} where n not in (select nth from lost) order by n
      returning id, tenant, deliver_at
    ), ${stageWrittenSql(tables)}
    select nth::text as nth from lost`,
);
