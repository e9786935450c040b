import type { Claim } from "../../../lanes/lane-store.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

export type HeldLease = Pick<Claim, "kind" | "id" | "epoch">;

const GIVEN = givenRows<HeldLease>({
  kind: texts(({ kind }) => kind),
  id: numbers("int8", ({ id }) => id),
  epoch: numbers("int8", ({ epoch }) => epoch),
});

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
  const { rows } = await transactions.write({
    text: EXTEND(tables),
    params: [worker, String(leaseMs), ...GIVEN.params(sorted)],
    prepared: true,
  });
  const extended = new Set(rows.map(([n]) => sorted[Number(n) - 1]));
  return leases.map((lease) => extended.has(lease));
}

// Locked in the order in which they are given, lanes by their ids and then loose deliveries by theirs, as everyone does.
// leased_at stays: an attempt that lapses has lasted since its lease began.
const EXTEND = sqlFor(
  ({ laneState, loose }) => `
    with clock as materialized (
      select clock_timestamp() + make_interval(secs => $2::text::float8 / 1000) as lease_end
    ), given as materialized (
      select * from ${GIVEN.table("given", 3)}
    ), held_lanes as materialized (
      select given.n, state.lane_id from given cross join lateral (
        select lane_id from ${laneState} as state
        where given.kind = 'lane' and state.lane_id = given.id and state.epoch = given.epoch and leased_by = $1::text
        for update
      ) as state
    ), held_loose as materialized (
      select given.n, loose.id from given cross join lateral (
        select id from ${loose} as loose
        where given.kind = 'loose' and loose.id = given.id and loose.epoch = given.epoch and leased_by = $1::text
        for update
      ) as loose
    ), lanes as (
      update ${laneState} as state set leased_until = lease_end, ready_at = lease_end
      from clock cross join held_lanes as held where state.lane_id = held.lane_id returning held.n
    ), loose as (
      update ${loose} as loose set leased_until = lease_end, ready_at = lease_end
      from clock cross join held_loose as held where loose.id = held.id returning held.n
    )
    select n::text as n from lanes union all select n::text as n from loose`,
);
