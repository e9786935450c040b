import { equalBytes } from "../../../bytes.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { columns, optional, text } from "../client/columns.js";
import { numberArray } from "../client/column-arrays.js";
import type { Session } from "../client/database.js";
import type { GivenColumn } from "../client/given-rows.js";
import { booleans, givenRows, numbers, texts } from "../client/given-rows.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { EVENT_COLUMNS, EVENT_FIELDS, EVENT_VALUES, stageWrittenSql } from "./write.js";

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

const GIVEN = givenRows<Given>(
  {
    ...Object.fromEntries(Object.entries(EVENT_FIELDS).map(([name, column]) => [name, ofEvent(column)])),
    id_given: booleans(({ event }) => event.idGiven),
    call: numbers("int4", ({ call }) => call),
  },
  { content_hash: ({ event }) => event.contentHash, body: ({ event }) => event.body },
);

function ofEvent({ type, literal }: GivenColumn<OutgoingEvent>): GivenColumn<Given> {
  return { type, literal: (given) => literal(given.map(({ event }) => event)) };
}

/** Given ids alone, to be looked up. */
const KEYS = givenRows<OutgoingEvent>(
  { tenant: texts(({ tenant }) => tenant), public_id: texts(({ id }) => id) },
  { content_hash: ({ contentHash }) => contentHash },
);

/**
 * Writes events of which some have ids that their publishers gave, and says for each call what became of its events.
 * Needs a transaction, because what was written of a call is taken back when one of its ids turns out to be a conflict.
 */
export async function writeKeyed(
  session: Session,
  calls: readonly Call[],
  tables: Tables,
): Promise<readonly (readonly Written[])[]> {
  const batch = new Batch(calls);
  if (batch.given.length > 0) {
    const found = await insert(session, batch.given, tables);
    await resolveLost(session, { given: batch.given, found }, tables);
    await undoRefused(session, { given: batch.given, found }, tables);
    batch.learn(found.map(({ verdict }) => verdict as Written));
  }
  return batch.verdicts();
}

const FOUND = columns<Found>({
  verdict: text(`case when same then 'duplicate' when not same then 'conflict'
        when written.id is null and n in (select n from fresh) then 'lost' else 'written' end`),
  rowId: optional(text("written.id::text")),
});

async function insert(session: Session, given: readonly Given[], tables: Tables): Promise<Found[]> {
  const { rows } = await session.query({ text: WRITE(tables), params: GIVEN.params(given) });
  return rows.map((row) => FOUND.read(row));
}

interface Judged {
  readonly given: readonly Given[];
  readonly found: Found[];
}

/** Judges lost races by a second statement: its snapshot shows what was committed after the first one's. */
async function resolveLost(session: Session, { given, found }: Judged, { outboxKey }: Tables): Promise<void> {
  const lost = found.flatMap(({ verdict }, n) => (verdict === "lost" ? [n] : []));
  if (lost.length === 0) return;
  const { rows } = await session.query({
    text: `
      select case when known.content_hash = given.content_hash then 'duplicate' else 'conflict' end as verdict
      from ${KEYS.table("given")} left join ${outboxKey} as known using (tenant, public_id) order by n`,
    params: KEYS.params(lost.map((n) => (given[n] as Given).event)),
  });
  lost.forEach((n, index) => {
    found[n] = { verdict: rows[index]?.[0] as Written, rowId: undefined };
  });
}

/** Takes back what was written of calls that have a conflict after all: only after a lost race. */
async function undoRefused(
  session: Session,
  { given, found }: Judged,
  { event, stage, later, outboxKey }: Tables,
): Promise<void> {
  const refused = new Set(
    found.flatMap(({ verdict }, n) => (verdict === "conflict" ? [given[n]?.call] : [])),
  );
  const undone = found.flatMap(({ rowId }, n) =>
    rowId !== undefined && refused.has(given[n]?.call) ? [n] : [],
  );
  if (undone.length === 0) return;
  const keyed = undone.map((n) => (given[n] as Given).event).filter(({ idGiven }) => idGiven);
  await session.query({
    text: `
      with unstaged as (
        delete from ${stage} where event_id = any ($1::int8[])
      ), unplanned as (
        delete from ${later} where event_id = any ($1::int8[])
      ), forgotten as (
        delete from ${outboxKey} as known using ${KEYS.table("given", 2)}
        where known.tenant = given.tenant and known.public_id = given.public_id
      )
      delete from ${event} where id = any ($1::int8[])`,
    params: [numberArray(undone.map((n) => BigInt(found[n]?.rowId ?? ""))), ...KEYS.params(keyed)],
  });
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
      else return sameContent(first, event) ? "duplicate" : "conflict";
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

/** A given id, unique over all tenants. */
export function keyName({ tenant, id }: OutgoingEvent): string {
  return `${tenant}\n${id}`;
}

function sameContent({ contentHash: one }: OutgoingEvent, { contentHash: two }: OutgoingEvent): boolean {
  return one !== undefined && two !== undefined && equalBytes(one, two);
}

// Keys are inserted in their order: batches that share ids and take them in any order meet in deadlocks. A key that
// was committed after the statement's snapshot is in neither `known` nor `keyed`: that is a lost race.
const WRITE = sqlFor(
  (tables) => `
    with given as materialized (
      select * from ${GIVEN.table("given")}
    ), known as materialized (
      select n, call, found.content_hash = given.content_hash as same from given
      cross join lateral (
        select content_hash from ${tables.outboxKey} as taken
        where taken.tenant = given.tenant and taken.public_id = given.public_id limit 1
      ) as found
      where id_given
    ), fresh as materialized (
      select * from given
      where n not in (select n from known) and call not in (select call from known where not same)
    ), keyed as (
      insert into ${tables.outboxKey} (tenant, public_id, content_hash)
      select tenant, public_id, content_hash from fresh where id_given order by tenant, public_id
      on conflict (tenant, public_id) do nothing returning tenant, public_id
    ), written as (
      insert into ${tables.event} (${EVENT_COLUMNS})
      select ${EVENT_VALUES} from fresh
      where not id_given or (tenant, public_id) in (select tenant, public_id from keyed) order by n
      returning id, deliver_at, tenant, public_id
    ), ${stageWrittenSql(tables)}
    select ${FOUND.list}
    from given left join known using (n) left join written using (tenant, public_id) order by n`,
);
