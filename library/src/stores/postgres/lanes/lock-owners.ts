import type { Lane } from "../../../lanes/lane.js";
import type { Session } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import type { LockedLane } from "./lane-row.js";
import { LANE_COLUMNS, lockedLanesOf, LOOSE_COLUMNS, readLockedSql } from "./lane-row.js";

/** A lane, or a loose delivery, that is to be locked. */
export interface Owner {
  readonly kind: Lane["kind"];
  readonly id: bigint;
}

const OWNERS = givenRows<Owner>({
  kind: texts(({ kind }) => kind),
  id: numbers("int8", ({ id }) => id),
});

// In the order of their ids, lanes before loose deliveries, as everyone does who locks several.
const lockSql = (read: number): ((tables: Tables) => string) =>
  sqlFor(
    (tables) => `
    with given as materialized (
      select * from ${OWNERS.table("given")}
    ), lanes as materialized (
      select given.n, state.head_seq as read_from, ${read} as read_max, state.* from given cross join lateral (
        select ${LANE_COLUMNS}
        from ${tables.laneState} where given.kind = 'lane' and lane_id = given.id for update
      ) as state
    ), loose as materialized (
      select given.n, 0::int8 as read_from, ${read} as read_max, loose.* from given cross join lateral (
        select ${LOOSE_COLUMNS}
        from ${tables.loose} as loose where given.kind = 'loose' and loose.id = given.id for update
      ) as loose
    )
    ${readLockedSql("(select * from lanes union all select * from loose)", tables)}`,
  );

const LOCK = { head: lockSql(1), nothing: lockSql(0) };

/** What an owner is called in the answer of {@link lockOwners}. */
export function ownerName({ kind, id }: Owner): string {
  return `${kind} ${id}`;
}

/** Locks lanes and loose deliveries, by their names; with their heads where a verb needs the round of a head. */
export async function lockOwners(
  session: Session,
  owners: Iterable<Owner>,
  { tables, read }: { readonly tables: Tables; readonly read: "head" | "nothing" },
): Promise<ReadonlyMap<string, LockedLane>> {
  const sorted = [...owners].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { rows } = await session.query({
    text: LOCK[read](tables),
    params: OWNERS.params(sorted),
    prepared: true,
  });
  const found = [...lockedLanesOf(rows).values()];
  return new Map(
    found.map((locked) => [ownerName({ kind: locked.lane.kind, id: locked.identity.id }), locked]),
  );
}
