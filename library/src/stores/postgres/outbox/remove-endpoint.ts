import type { Session } from "../client/database.js";
import { columns, number, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { untoldSql } from "../retention/remove-lanes.js";
import type { Tables } from "../schema/tables.js";

// How much one transaction cancels: few enough that no settlement waits long for its locks.
const LANES_AT_ONCE = 500;
const DELIVERIES_AT_ONCE = 1000;

/** What one step came to. */
export interface Removed {
  /** How many deliveries were cancelled. */
  readonly cancelled: number;
  /** Whether something is left. */
  readonly more: boolean;
}

/** A lane's name at its consumer. */
interface LaneName {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

/**
 * Cancels what waits for consumers that were removed, a bounded step at a time, without the lock of the sequencer. Nothing
 * of them is claimed or lengthened any more. What a process leaves that dies in the middle is found by any other: a
 * consumer is cleared when one process has walked over all of its lanes. Several may do it at once.
 */
export class Remover {
  readonly #database: StoreDatabase;
  // The consumer whose lanes are walked over, and the last that was emptied. Another process begins at the first.
  #walk: { readonly consumer: string; readonly after: LaneName | undefined } | undefined;

  constructor(database: StoreDatabase) {
    this.#database = database;
  }

  async step(): Promise<Removed> {
    const consumer = this.#walk?.consumer ?? (await this.#next());
    if (consumer === undefined) return { cancelled: 0, more: false };
    const { transactions, tables } = this.#database;
    const after = this.#walk?.after;
    // Planned for the tables as they are: a removal is rare, and may be of one lane or of a million.
    const lanes = await transactions.run(
      (session) => cancelLanes(session, { consumer, after }, tables),
      "fresh",
    );
    if (lanes.isAny) {
      this.#walk = { consumer, after: lanes.isEmptied ? lanes.last : after };
      return { cancelled: lanes.cancelled, more: true };
    }
    const loose = await transactions.run((session) => cancelLoose(session, consumer, tables), "fresh");
    if (loose > 0) {
      this.#walk = { consumer, after };
      return { cancelled: loose, more: true };
    }
    const dead = await transactions.run((session) => resolveDead(session, consumer, tables), "fresh");
    if (dead > 0) {
      this.#walk = { consumer, after };
      return { cancelled: 0, more: true };
    }
    await transactions.run((session) => markCleared(session, consumer, tables));
    this.#walk = undefined;
    return { cancelled: 0, more: (await this.#next()) !== undefined };
  }

  async #next(): Promise<string | undefined> {
    const { transactions, tables } = this.#database;
    const { rows } = await transactions.read({
      text: `
        select id::text as id from ${tables.consumer} where removed_at is not null and cleared_at is null
        order by consumer.id limit 1`,
      params: [],
    });
    const id = rows[0]?.[0];
    return typeof id === "string" ? id : undefined;
  }
}

/** As the cancelled deliveries of a removed consumer say it. */
export function removedWord(id: string, consumer: string): string {
  return `(
    select case kind when 'handler' then 'consumer_removed' else 'endpoint_removed' end
    from ${consumer} as removed where removed.id = ${id}
  )`;
}

interface CancelledValues {
  readonly lanes: number;
  readonly cancelled: number;
  readonly tenant: string | undefined;
  readonly source: string | undefined;
  readonly key: string | undefined;
}

const CANCELLED = columns<CancelledValues>({
  lanes: number("(select count(*) from page)"),
  cancelled: number("(select count(*) from recorded)"),
  tenant: optional(text("(select tenant from page order by tenant desc, source desc, key desc limit 1)")),
  source: optional(text("(select source from page order by tenant desc, source desc, key desc limit 1)")),
  key: optional(text("(select key from page order by tenant desc, source desc, key desc limit 1)")),
});

/**
 * Cancels what waits in the next lanes of the consumer, up to a number of deliveries. What the delete returns is
 * recorded: another process that did the same a moment ago has recorded the others. A lane that is emptied loses its
 * state and keeps its name: the attempts that were made in it tell of no consumer but by that. One that is not has no
 * lease any more, so that what its worker says of it is stale. A lane of which nothing is told, as one where a handler
 * has applied everything, goes at once: no record would find it later.
 */
async function cancelLanes(
  session: Session,
  { consumer: id, after }: { readonly consumer: string; readonly after: LaneName | undefined },
  tables: Tables,
): Promise<{
  readonly isAny: boolean;
  /** Whether all of these lanes are empty. */
  readonly isEmptied: boolean;
  readonly last: LaneName;
  readonly cancelled: number;
}> {
  const { rows } = await session.query({
    text: cancelSql(tables),
    params: [id, after?.tenant ?? null, after?.source ?? null, after?.key ?? null],
  });
  const [row = []] = rows;
  const { lanes, cancelled: count, tenant = "", source = "", key = "" } = CANCELLED.read(row);
  const isEmptied = Number(row[CANCELLED.size]) === 0;
  return { isAny: lanes > 0, isEmptied, last: { tenant, source, key }, cancelled: count };
}

// The head of a lane that is not emptied is the first delivery that is left. Counted from those that were cancelled, a lane whose
// deliveries somebody has deleted would stay, and all that stands behind it.
function cancelSql(tables: Tables): string {
  const { consumer, lane, laneState, delivery, cancelled } = tables;
  return `
    with page as materialized (
      select lane_id, tenant, source, key from ${lane}
      where consumer_id = $1::text::int8
        and ($2::text is null or (tenant, source, key) > ($2::text, $3::text, $4::text))
      order by tenant, source, key limit ${LANES_AT_ONCE}
    ), locked as materialized (
      select state.* from (select lane_id from page order by lane_id) as page cross join lateral (
        select lane_id, head_seq, next_seq, state.state from ${laneState} as state
        where state.lane_id = page.lane_id for update
      ) as state
    ), picked as materialized (
      select placed.*, locked.lane_id, placed.seq = head_seq and state in ('halted', 'parked') as is_dead
      from locked cross join lateral (
        select delivery.ctid as at, seq, event_id, round from ${delivery} as delivery
        where delivery.lane_id = locked.lane_id order by seq limit ${DELIVERIES_AT_ONCE}
      ) as placed
      limit ${DELIVERIES_AT_ONCE}
    ), ended as (
      delete from ${delivery} where ctid = any (array(select at from picked)) returning lane_id, seq
    ), recorded as (
      insert into ${cancelled} (consumer_id, lane_id, seq, event_id, round, because, cancelled_at)
      select $1::text::int8, lane_id, seq, event_id, round, ${removedWord("$1::text::int8", consumer)}, clock_timestamp()
      from ended join picked using (lane_id, seq) where not is_dead order by lane_id, seq returning 1
    ), reached as materialized (
      select locked.lane_id, greatest(locked.head_seq, coalesce((
        select min(seq) from ${delivery} as remaining where remaining.lane_id = locked.lane_id
          and remaining.seq > coalesce((select max(seq) from picked where picked.lane_id = locked.lane_id), -1)
      ), next_seq)) as head_seq, next_seq from locked
    ), emptied as (
      delete from ${laneState} as state using reached
      where state.lane_id = reached.lane_id and reached.head_seq >= reached.next_seq returning 1
    ), untold as (
      delete from ${lane} as lane using reached
      where lane.lane_id = reached.lane_id and reached.head_seq >= reached.next_seq
        and not exists (select from picked where picked.lane_id = lane.lane_id) and ${untoldSql("lane", tables)}
    ), shortened as (
      update ${laneState} as state set head_seq = reached.head_seq, state = 'flowing', epoch = state.epoch + 1,
        ready_at = null, blocked_at = null, intent = null, leased_by = null, leased_at = null, leased_until = null
      from reached where state.lane_id = reached.lane_id and reached.head_seq < reached.next_seq returning 1
    )
    select ${CANCELLED.list}, (select count(*) from shortened)::text as shortened`;
}

async function cancelLoose(
  session: Session,
  id: string,
  { consumer, loose, cancelled }: Tables,
): Promise<number> {
  const { rows } = await session.query({
    text: `
      with found as materialized (
        select id from ${loose} where consumer_id = $1::text::int8 and ready_at is not null
        order by ready_at limit ${DELIVERIES_AT_ONCE}
      ), gone as materialized (
        select loose.id from (select id from found order by id) as found cross join lateral (
          select id from ${loose} as loose where loose.id = found.id for update
        ) as loose
      ), ended as (
        delete from ${loose} as loose using gone where loose.id = gone.id returning loose.id, event_id, round
      ), recorded as (
        insert into ${cancelled} (consumer_id, loose_id, event_id, round, because, cancelled_at)
        select $1::text::int8, id, event_id, round, ${removedWord("$1::text::int8", consumer)}, clock_timestamp()
        from ended returning 1
      )
      select count(*)::text as count from recorded`,
    params: [id],
  });
  return Number(rows[0]?.[0] ?? 0);
}

/** What is dead keeps its record, and is no longer listed: nobody can redrive it. */
async function resolveDead(session: Session, consumer: string, { dead, loose }: Tables): Promise<number> {
  const { rows } = await session.query({
    text: `
      with found as materialized (
        select id from ${dead} where resolved_at is null and consumer_id = $1::text::int8
        limit ${DELIVERIES_AT_ONCE} for update
      ), resolved as (
        update ${dead} as dead set resolved_at = clock_timestamp(), resolved_how = 'cancelled'
        from found where dead.id = found.id returning loose_id
      ), gone as (
        delete from ${loose} where id = any (array(select loose_id from resolved where loose_id is not null))
      )
      select count(*)::text as count from resolved`,
    params: [consumer],
  });
  return Number(rows[0]?.[0] ?? 0);
}

async function markCleared(session: Session, id: string, { consumer }: Tables): Promise<void> {
  await session.query({
    text: `update ${consumer} set cleared_at = clock_timestamp() where id = $1::text::int8 and cleared_at is null`,
    params: [id],
  });
}
