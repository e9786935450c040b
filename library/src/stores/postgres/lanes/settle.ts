import { reach } from "#faults";
import type { Settled, Settlement, SettleRequest } from "../../../lanes/lane-store.js";
import type { Lane } from "../../../lanes/lane.js";
import { isCurrent, settled } from "../../../lanes/lane.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";
import type { LockedLane } from "./lane-row.js";
import { LANE_COLUMNS, lockedLanesOf, LOOSE_COLUMNS, readLockedSql } from "./lane-row.js";
import { writeTurns } from "./lane-write.js";
import { recordEnded } from "./record-ended.js";
import type { Turn } from "./run.js";
import { claimOf, turnOf } from "./run.js";

export interface SettleParts extends StoreDatabase {
  readonly secrets: EndpointSecrets;
}

/** Writes what a worker did with its claims, and leases what comes next. */
export async function settle(parts: SettleParts, request: SettleRequest): Promise<readonly Settled[]> {
  const { transactions, tables } = parts;
  const { settlements, run } = request;
  if (settlements.length === 0) return [];
  const sorted = settlements.toSorted((a, b) => (a.claim.id < b.claim.id ? -1 : 1));
  const given = sorted.map((settlement) => ({ settlement, maxEvents: run.maxEvents }));
  const lock = { text: LOCK(tables), params: GIVEN.params(given), prepared: true };
  reach("settle.before_record");
  const turns = await transactions.runFrom(lock, async (scope, { rows }) => {
    const made = turnsOf(parts, request, { sorted, found: lockedLanesOf(rows) });
    const written = [...made.values()];
    await recordEnded(scope, written, tables);
    scope.closing = writeTurns(written, request, tables);
    return made;
  });
  reach("settle.after_record");
  return settlements.map((settlement) => {
    const turn = turns.get(settlement);
    return turn === undefined ? { kind: "stale" } : { kind: "settled", next: claimOf(turn) };
  });
}

/** What becomes of the settlements that count; the others are stale. */
function turnsOf(
  { secrets }: SettleParts,
  { run }: SettleRequest,
  {
    sorted,
    found,
  }: { readonly sorted: readonly Settlement[]; readonly found: ReadonlyMap<number, LockedLane> },
): ReadonlyMap<Settlement, Turn> {
  const turns = new Map<Settlement, Turn>();
  const settledIds = new Set<string>();
  sorted.forEach((settlement, index) => {
    const locked = found.get(index + 1);
    const { claim } = settlement;
    const name = `${claim.kind} ${claim.id}`;
    // Of two settlements of one claim in one call, the first counts.
    if (locked === undefined || settledIds.has(name) || !isCurrent(locked.lane, claim)) return;
    settledIds.add(name);
    // The endpoint's secrets may have been changed into some that cannot be opened here; the next claim looks at them.
    const next = settlement.next && !secrets.isOutdated(locked.identity.consumer);
    const change = settled(locked.lane, { ...settlement, next }, { active: locked.active });
    turns.set(settlement, turnOf(locked, change, run));
  });
  return turns;
}

interface GivenSettlement {
  readonly settlement: Settlement;
  readonly maxEvents: number;
}

const GIVEN = givenRows<GivenSettlement>({
  kind: texts(({ settlement }) => settlement.claim.kind),
  id: numbers("int8", ({ settlement }) => settlement.claim.id),
  read_from: numbers("int8", ({ settlement }) => expected(settlement).head),
  read_max: numbers("int4", ({ settlement, maxEvents }) => {
    const { leasable } = expected(settlement);
    return leasable === "nothing" ? 0 : leasable === "head" ? 1 : maxEvents;
  }),
});

/**
 * What the rule will say if nothing has happened to the lane but what its worker knows. It is asked before the lane is
 * locked, so that one statement locks the lane and reads its next deliveries; what counts is said of the locked row.
 */
function expected(settlement: Settlement): ReturnType<typeof settled> {
  const { kind, epoch, run } = settlement.claim;
  const [{ sequence: head, round }] = run;
  const unknown = { last: undefined, suspectUntil: undefined, lease: undefined };
  const lane: Lane = {
    kind,
    state: "flowing",
    epoch,
    head,
    // As if something waited behind the run.
    end: head + BigInt(run.length) + 1n,
    round,
    attempts: 0,
    failures: 0,
    lapses: 0,
    skipIntended: false,
    blocked: false,
    ...unknown,
  };
  return settled(lane, settlement, { active: true });
}

// The rows are locked in the order in which they are given, lanes by their ids and then loose deliveries by theirs, as
// everyone does: in any order, workers and the sequencer met in deadlocks.
const LOCK = sqlFor(
  (tables) => `
    with given as materialized (
      select * from ${GIVEN.table("given")}
    ), lanes as materialized (
      select given.n, read_from, read_max, state.* from given cross join lateral (
        select ${LANE_COLUMNS}
        from ${tables.laneState} where given.kind = 'lane' and lane_id = given.id for update
      ) as state
    ), loose as materialized (
      select given.n, read_from, read_max, loose.* from given cross join lateral (
        select ${LOOSE_COLUMNS}
        from ${tables.loose} as loose where given.kind = 'loose' and loose.id = given.id for update
      ) as loose
    )
    ${readLockedSql("(select * from lanes union all select * from loose)", tables)}`,
);
