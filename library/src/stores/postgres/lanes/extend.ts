import { reach } from "#faults";
import type { Claim } from "../../../lanes/lane-store.js";
import { bigint, columns, text } from "../client/columns.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

export type HeldLease = Pick<Claim, "kind" | "id" | "epoch">;

const GIVEN = givenRows<HeldLease>({
  kind: texts(({ kind }) => kind),
  id: numbers("int8", ({ id }) => id),
  epoch: numbers("int8", ({ epoch }) => epoch),
});

const EXTENDED = columns<HeldLease>({ kind: text("kind"), id: bigint("id"), epoch: bigint("epoch") });

/** Keeps leases for `leaseMs` from now on, under their epochs; false for each that this worker has no more. */
export async function extend(
  { transactions, tables }: StoreDatabase,
  {
    worker,
    leases,
    leaseMs,
  }: { readonly worker: string; readonly leases: readonly HeldLease[]; readonly leaseMs: number },
): Promise<readonly boolean[]> {
  if (leases.length === 0) return [];
  const sorted = leases.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  reach("extend.before_record");
  const { rows } = await transactions.write({
    text: EXTEND(tables),
    params: [worker, String(leaseMs), ...GIVEN.params(sorted)],
    prepared: true,
  });
  reach("extend.after_record");
  const extended = new Set(rows.map((row) => nameOf(EXTENDED.read(row))));
  return leases.map((lease) => extended.has(nameOf(lease)));
}

function nameOf({ kind, id, epoch }: HeldLease): string {
  return `${kind} ${id} ${epoch}`;
}

// Locked in the order in which they are given, lanes by their ids and then loose deliveries by theirs, as everyone does.
// `is not distinct from` keeps Postgres from entering the table by the index of workers, for each lease anew.
// leased_at stays: an attempt that lapses has lasted since its lease began. The rows are changed by an array of their ids:
// a join with the table was planned, when a vacuum had just found it empty, as a walk over all of it.
const EXTEND = sqlFor(
  ({ laneState, loose }) => `
    with clock as materialized (
      select clock_timestamp() + make_interval(secs => $2::text::float8 / 1000) as lease_end
    ), given as materialized (
      select * from ${GIVEN.table("given", 3)}
    ), held_lanes as materialized (
      select state.lane_id from given cross join lateral (
        select lane_id from ${laneState} as state
        where given.kind = 'lane' and state.lane_id = given.id and state.epoch = given.epoch
          and leased_by is not distinct from $1::text
        for update
      ) as state
    ), held_loose as materialized (
      select loose.id from given cross join lateral (
        select id from ${loose} as loose
        where given.kind = 'loose' and loose.id = given.id and loose.epoch = given.epoch
          and leased_by is not distinct from $1::text
        for update
      ) as loose
    ), lanes as (
      update ${laneState} set leased_until = lease_end, ready_at = lease_end
      from clock where lane_id = any (array(select lane_id from held_lanes)) returning lane_id, epoch
    ), loose as (
      update ${loose} set leased_until = lease_end, ready_at = lease_end
      from clock where id = any (array(select id from held_loose)) returning id, epoch
    )
    select ${EXTENDED.list} from (
      select 'lane' as kind, lane_id as id, epoch from lanes union all select 'loose', id, epoch from loose
    ) as extended`,
);
