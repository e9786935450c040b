import { reach } from "#faults";
import type { Settled, Settlement, SettleRequest } from "../../../lanes/lane-store.js";
import type { LockedRow } from "./locked-rows.js";
import { lockedRowsOf, readLockedSql } from "./locked-rows.js";
import { numberArray } from "../client/column-arrays.js";
import type { Parameter } from "../client/database.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { recordEnded } from "./record-ended.js";
import type { KnownLeases } from "./known-leases.js";
import { nameOf } from "./known-leases.js";
import type { LaneChange } from "./lane-change.js";
import { advanceOf, claimOf, settledChange } from "./lane-change.js";
import { LaneWriter } from "./lane-write.js";
import { LooseWriter } from "./loose-write.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import { closeWith } from "../client/own-transaction.js";

export interface SettlerParts {
  readonly transactions: OwnTransactions;
  readonly tables: OutboxTables;
  readonly secrets: EndpointSecrets;
  readonly leases: KnownLeases;
}

/** Writes what workers did with their claims. */
export class Settler {
  readonly #transactions: OwnTransactions;
  readonly #tables: OutboxTables;
  readonly #secrets: EndpointSecrets;
  readonly #leases: KnownLeases;
  readonly #lanes: LaneWriter;
  readonly #loose: LooseWriter;
  readonly #lockSql: string;

  constructor({ transactions, tables, secrets, leases }: SettlerParts) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#secrets = secrets;
    this.#leases = leases;
    this.#lanes = new LaneWriter(tables);
    this.#loose = new LooseWriter(tables);
    this.#lockSql = lockSql(tables);
  }

  async settle(request: SettleRequest): Promise<readonly Settled[]> {
    const { settlements } = request;
    if (settlements.length === 0) return [];
    const sorted = [...settlements].toSorted((a, b) => (a.claim.id < b.claim.id ? -1 : 1));
    const lock = { text: this.#lockSql, params: lockParams(sorted, request), prepared: true };
    reach("settle.before_record");
    const changes = await this.#transactions.runFrom(lock, async (scope, { rows }) => {
      const made = this.#changesOf(sorted, lockedRowsOf(rows, request.run.maxBytes));
      this.#leases.note(request.worker, made);
      await recordEnded(scope, made, this.#tables);
      await closeWith(scope, [this.#lanes.statement(made, request), this.#loose.statement(made, request)]);
      return made;
    });
    reach("settle.after_record");
    const settled = new Map(changes.map((change) => [nameOf(change.row), change]));
    return settlements.map(({ claim }) => {
      const change = settled.get(nameOf(claim));
      if (!change?.lease) this.#leases.drop(request.worker, claim);
      return change === undefined ? { kind: "stale" } : { kind: "settled", next: claimOf(change) };
    });
  }

  /** What becomes of those that were locked; the others are stale. */
  #changesOf(sorted: readonly Settlement[], found: ReadonlyMap<number, LockedRow>): LaneChange[] {
    return sorted.flatMap((settlement, n) => {
      const row = found.get(n + 1);
      if (row === undefined) return [];
      const { id, version } = row.endpoint;
      // Its secrets may have been changed into what cannot be opened here; the next claim looks at them.
      const next = settlement.next && !this.#secrets.isOutdated(id, version);
      return [settledChange(row, settlement, next)];
    });
  }
}

function lockParams(sorted: readonly Settlement[], { run }: Pick<SettleRequest, "run">): Parameter[] {
  return [
    `{${sorted.map(({ claim }) => String(claim.kind === "lane")).join(",")}}`,
    numberArray(sorted.map(({ claim }) => claim.id)),
    numberArray(sorted.map(({ claim }) => claim.epoch)),
    numberArray(sorted.map(({ claim }) => claim.run[0].sequence)),
    // Where the next run would begin; it is read together with the lock.
    numberArray(
      sorted.map((settlement) =>
        settlement.next ? settlement.claim.run[0].sequence + BigInt(advanceOf(settlement)) : undefined,
      ),
    ),
    // A head that was tried goes alone.
    numberArray(sorted.map((settlement) => (advanceOf(settlement) > 0 ? run.maxEvents : 1))),
  ];
}

// The rows are locked in the order in which they are given, lanes by their ids and then loose deliveries by theirs, as
// everyone does: in any order, workers and the sequencer met in deadlocks. The epoch is the fence: whoever has claimed
// it since has a higher one. That a lease has ended changes nothing while nobody has.
function lockSql(tables: OutboxTables): string {
  return `
    with given as materialized (
      select * from unnest($1::bool[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int4[]) with ordinality
        as given (lane, id, epoch, head, run_from, run_max, n)
    ), lanes as materialized (
      select n, 'lane' as kind, state.*, run_from,
        case when suspect_until > run_from then 1 else run_max end as run_max
      from given cross join lateral (
        select lane_id, endpoint_id, state.epoch, head_seq, next_seq, last_seq, attempts, failures, lapses, run_len,
          suspect_until, intent, leased_until
        from ${tables.laneState} as state
        where given.lane and state.lane_id = given.id and state.epoch = given.epoch and head_seq = given.head
          and leased_by is not null
        for update
      ) as state
    ), loose as materialized (
      select n, 'loose' as kind, loose.*
      from given cross join lateral (
        select loose.id, endpoint_id, loose.epoch, attempts, failures, lapses, leased_until, event_id, round
        from ${tables.loose} as loose
        where not given.lane and loose.id = given.id and loose.epoch = given.epoch and leased_by is not null
        for update
      ) as loose
    )
    ${readLockedSql(LOCKED, tables)}`;
}

const LOCKED = `(
      select n, kind, lane_id as id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures, lapses,
        run_len, suspect_until, intent, leased_until, null::int8 as event_id, null::int4 as round, run_from, run_max,
        null::timestamptz as ready_at
      from lanes
      union all
      select n, kind, id, endpoint_id, epoch, 0, 1, null, attempts, failures, lapses, 1, null, null, leased_until,
        event_id, round, null, 1, null
      from loose
    )`;
