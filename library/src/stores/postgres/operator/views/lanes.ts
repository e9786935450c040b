import type { LaneSummary } from "../../../../operator/lookup-store.js";
import { cursorOf, numberOfCursor } from "../../../../operator/cursor.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { bigint, boolean, columns, number, optional, text } from "../../client/columns.js";
import type { Row } from "../../client/database.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { stateNow } from "../../outbox/consumer-state.js";
import type { Tables } from "../../schema/tables.js";
import { sqlFor } from "../../schema/tables.js";

const CONSUMER_STATE = stateNow("consumer");

// Since when a lane is blocked: its head has failed, or its consumer is stopped.
const SINCE = `coalesce(blocked_at, case when ${CONSUMER_STATE} <> 'active' then stopped_at end)`;

const LANE = columns<LaneSummary>({
  id: bigint("state.lane_id"),
  // A handler belongs to no tenant, and its lanes do.
  tenant: text("case consumer.kind when 'handler' then lane.tenant else consumer.tenant end"),
  endpointId: text("consumer.public_id"),
  key: text("lane.key"),
  state:
    text(`case when state.state <> 'flowing' then state.state when ${CONSUMER_STATE} <> 'active' then ${CONSUMER_STATE}
        when blocked_at is not null then 'retrying' else 'flowing' end`),
  depth: bigint("next_seq - head_seq"),
  head: bigint("head_seq"),
  failures: number("failures"),
  blockedMs: optional(
    number(`case when ${SINCE} is not null
        then greatest(0, extract(epoch from clock_timestamp() - ${SINCE}) * 1000)::int8 end`),
  ),
  dueInMs: optional(
    // While it is leased, its ready time is the end of the lease, but its attempt is under way.
    number(`case when state.state = 'flowing' and ${CONSUMER_STATE} = 'active' and ready_at is not null
        then case when leased_by is not null then 0
          else ceil(greatest(0, extract(epoch from ready_at - clock_timestamp()) * 1000))::int8 end end`),
  ),
});

/** A lane of the page, and whether it is shown: one of a removed consumer is there until it is cancelled, and counts only for where the page ends. */
const PICKED = columns<{ readonly pickedId: bigint; readonly isShown: boolean }>({
  pickedId: bigint("picked.lane_id"),
  isShown: boolean("coalesce(next_seq > head_seq and removed_at is null, false)"),
});

// How many lanes are walked over for each that is wanted of one consumer.
const STEPS = 20;

/** Lists lanes in which something waits, in the order of their ids. */
export async function listLanes(
  { transactions, tables }: StoreDatabase,
  { endpointId }: { readonly endpointId?: string | undefined },
  { limit, after }: Page,
): Promise<Paged<LaneSummary>> {
  const page = [String(numberOfCursor(after) ?? 0n), String(limit + 1)];
  const read: Read = (sql, ...more) => transactions.readKept({ text: sql, params: [...page, ...more] });
  const rows =
    endpointId === undefined
      ? await read(WAITING(tables))
      : await readAt(endpointId, limit, { tables, read });
  const picked = rows.slice(0, limit).map((row) => ({ lane: PICKED.read(row), row }));
  const last = picked.at(-1)?.lane;
  return {
    items: picked.filter(({ lane }) => lane.isShown).map(({ row }) => LANE.read(row, PICKED.size)),
    next: rows.length > limit && last ? cursorOf(last.pickedId) : undefined,
  };
}

/** Reads a page; `more` are the parameters after those of the page. */
type Read = (sql: string, ...more: string[]) => Promise<readonly Row[]>;

async function readAt(
  endpointId: string,
  limit: number,
  { tables, read }: { readonly tables: Tables; readonly read: Read },
): Promise<readonly Row[]> {
  const among = await read(WAITING_AMONG(tables), endpointId, String(limit * STEPS));
  // Where the consumer has few of the lanes that come first, all that it has are read.
  return among.length > limit ? among : read(WAITING_AT(tables), endpointId);
}

/** One lane; undefined where nothing waits in it. */
export async function readLane(
  { transactions, tables }: StoreDatabase,
  id: bigint,
): Promise<LaneSummary | undefined> {
  const [row] = await transactions.readKept({ text: ONE(tables), params: [String(id)] });
  return row && PICKED.read(row).isShown ? LANE.read(row, PICKED.size) : undefined;
}

const ONE = sqlFor((tables) => lanesSql("picked as materialized (select $1::text::int8 as lane_id)", tables));

// By steps from lane to lane in the index of what waits: lanes in which nothing does cost nothing.
function walkSql({ delivery }: Tables): string {
  const next = (after: string): string => `(
        select delivery.lane_id from ${delivery} as delivery where delivery.lane_id > ${after}
        order by delivery.lane_id, delivery.seq limit 1
      )`;
  return `waiting (lane_id) as (
      select ${next("$1::text::int8")}
      union all
      select ${next("waiting.lane_id")} from waiting where waiting.lane_id is not null
    )`;
}

const WAITING = sqlFor((tables) =>
  lanesSql(
    `${walkSql(tables)}, picked as materialized (
      select lane_id from waiting where lane_id is not null limit $2::text::int8
    )`,
    tables,
  ),
);

const WAITING_AMONG = sqlFor((tables) =>
  lanesSql(
    `${walkSql(tables)}, walked as materialized (
      select lane_id from waiting where lane_id is not null limit $4::text::int8
    ), picked as materialized (
      select walked.lane_id from walked cross join lateral (
        select consumer_id from ${tables.laneState} as state where state.lane_id = walked.lane_id limit 1
      ) as state
      where consumer_id = ${numberSql(tables)}
      order by walked.lane_id limit $2::text::int8
    )`,
    tables,
  ),
);

// All of the consumer's lanes are read, and sorted then: no index has them in the order of their ids, and Postgres, left
// to choose, walks over the lanes of all consumers in that order.
const WAITING_AT = sqlFor((tables) => {
  const { laneState } = tables;
  const known = numberSql(tables);
  return lanesSql(
    `waiting as materialized (
      select lane_id from ${laneState} where consumer_id = ${known} and ready_at is not null
    ), stopped as materialized (
      select lane_id from ${laneState} where consumer_id = ${known} and blocked_at is not null and ready_at is null
    ), picked as materialized (
      select lane_id from (select lane_id from waiting union all select lane_id from stopped) as found
      where lane_id > $1::text::int8 order by lane_id limit $2::text::int8
    )`,
    tables,
  );
});

function numberSql({ consumer }: Tables): string {
  return `(select id from ${consumer} where public_id = $3::text and removed_at is null)`;
}

function lanesSql(picked: string, { consumer, lane, laneState }: Tables): string {
  return `
    with recursive ${picked}
    select ${PICKED.list}, ${LANE.list}
    from picked
    left join ${laneState} as state on state.lane_id = picked.lane_id
    left join ${lane} as lane on lane.lane_id = picked.lane_id
    left join ${consumer} as consumer on consumer.id = state.consumer_id
    order by picked.lane_id`;
}
