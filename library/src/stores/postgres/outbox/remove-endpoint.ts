import type { Session } from "../client/database.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

// Few enough that nobody waits long for the locks of one transaction.
const AT_ONCE = 500;

/**
 * Cancels what waits for endpoints that were removed, a part at a time. Nothing of them is claimed any more. What a
 * process leaves that dies in the middle is finished by whoever removes an endpoint next, or reads the endpoints to
 * sequence events. Several may do it at once.
 */
export class Removals {
  readonly #transactions: OwnTransactions;
  readonly #tables: OutboxTables;

  constructor(transactions: OwnTransactions, tables: OutboxTables) {
    this.#transactions = transactions;
    this.#tables = tables;
  }

  /** Finishes every removal that is not at its end. */
  async finish(): Promise<void> {
    const { rows } = await this.#transactions.read({
      text: `
        select id::text from ${this.#tables.endpoint} where removed_at is not null and cleared_at is null order by id`,
      params: [],
    });
    for (const [number] of rows) if (typeof number === "string") await this.#finishOne(number);
  }

  async #finishOne(endpoint: string): Promise<void> {
    let after: string | undefined;
    do after = await this.#cancelLanes(endpoint, after);
    while (after !== undefined);
    while ((await this.#cancelLoose(endpoint)) > 0);
    await this.#transactions.run(async (session) => {
      await session.query(clearedStatement(endpoint, this.#tables));
    }, "fresh");
  }

  /** Returns the last key of this part; undefined where there is no further one. */
  #cancelLanes(endpoint: string, after: string | undefined): Promise<string | undefined> {
    return this.#transactions.run(
      (session) => cancelLanes(session, { endpoint, after }, this.#tables),
      "fresh",
    );
  }

  #cancelLoose(endpoint: string): Promise<number> {
    return this.#transactions.run((session) => cancelLoose(session, endpoint, this.#tables), "fresh");
  }
}

// The lanes keep their names: the attempts that were made in them tell of no endpoint but by these.
async function cancelLanes(
  session: Session,
  { endpoint, after }: { readonly endpoint: string; readonly after: string | undefined },
  { lane, laneState, delivery, cancelled }: OutboxTables,
): Promise<string | undefined> {
  const { rows } = await session.query({
    text: `
      with gone as materialized (
        select lane_id, key from ${lane} where endpoint_id = $1::text::int8 and ($2::text is null or key > $2::text)
        order by key limit ${AT_ONCE}
      ), locked as materialized (
        select state.* from (select lane_id from gone order by lane_id) as gone cross join lateral (
          select lane_id, head_seq, state.state from ${laneState} as state where state.lane_id = gone.lane_id for update
        ) as state
      ), ended as (
        delete from ${delivery} as delivery using locked where delivery.lane_id = locked.lane_id
        returning delivery.lane_id, seq, event_id, round, seq = head_seq and state in ('halted', 'parked') as is_dead
      ), recorded as (
        insert into ${cancelled} (endpoint_id, lane_id, seq, event_id, round, because, cancelled_at)
        select $1::text::int8, lane_id, seq, event_id, round, 'endpoint_removed', clock_timestamp()
        from ended where not is_dead
      ), stateless as (
        delete from ${laneState} as state using locked where state.lane_id = locked.lane_id
      )
      select max(key) from gone`,
    params: [endpoint, after ?? null],
  });
  return rows[0]?.[0] ?? undefined;
}

async function cancelLoose(
  session: Session,
  endpoint: string,
  { loose, cancelled }: OutboxTables,
): Promise<number> {
  const { rows } = await session.query({
    text: `
      with gone as materialized (
        select id from ${loose} where endpoint_id = $1::text::int8 and ready_at is not null
        order by id limit ${AT_ONCE} for update
      ), ended as (
        delete from ${loose} as loose using gone where loose.id = gone.id returning loose.id, event_id, round
      ), recorded as (
        insert into ${cancelled} (endpoint_id, loose_id, event_id, round, because, cancelled_at)
        select $1::text::int8, id, event_id, round, 'endpoint_removed', clock_timestamp() from ended returning 1
      )
      select count(*)::text from recorded`,
    params: [endpoint],
  });
  return Number(rows[0]?.[0] ?? 0);
}

/** Looked at once more: another process may still be at it, and die. */
function clearedStatement(endpoint: string, tables: OutboxTables): { text: string; params: string[] } {
  const { lane, laneState, loose } = tables;
  return {
    text: `
      update ${tables.endpoint} set cleared_at = clock_timestamp()
      where id = $1::text::int8 and cleared_at is null
        and not exists (
          select from ${lane} as lane join ${laneState} as state on state.lane_id = lane.lane_id
          where lane.endpoint_id = $1::text::int8
        )
        and not exists (select from ${loose} where endpoint_id = $1::text::int8 and ready_at is not null)`,
    params: [endpoint],
  };
}
