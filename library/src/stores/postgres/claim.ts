import { reach } from "#faults";
import type { ClaimAnswer, ClaimRequest } from "../../delivery/delivery-store.js";
import { LAPSES_BEFORE_ALONE } from "../../delivery/delivery-store.js";
import type { Observer } from "../../observer.js";
import { notify } from "../../observer.js";
import { pickAloneSql, pickSql } from "./claim-pick.js";
import type { LockedRow } from "./claim-rows.js";
import { lockedRowsOf } from "./claim-rows.js";
import { numberArray, textArray } from "./column-arrays.js";
import type { Session } from "./database.js";
import { recordEnded } from "./ended-deliveries.js";
import type { LaneChange } from "./lane-change.js";
import { claimedChange, claimOf, unleased } from "./lane-change.js";
import { LaneWriter } from "./lane-write.js";
import { LooseWriter } from "./loose-write.js";
import type { OutboxTables } from "./outbox-tables.js";
import type { OwnTransactions } from "./own-transaction.js";

// How many that lapsed while they ran alone are looked at with each claim.
const MAX_ALONE = 5;
const MISSING_AGAIN_MS = 60_000;

/** Leases what is due. */
export class Claimer {
  readonly #transactions: OwnTransactions;
  readonly #tables: OutboxTables;
  readonly #observer: Observer | undefined;
  readonly #lanes: LaneWriter;
  readonly #loose: LooseWriter;
  readonly #pickSql: string;
  readonly #pickAloneSql: string;
  // The endpoint that was served last: the next claim begins after it.
  #cursor = 0n;

  constructor(transactions: OwnTransactions, tables: OutboxTables, observer: Observer | undefined) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#observer = observer;
    this.#lanes = new LaneWriter(tables);
    this.#loose = new LooseWriter(tables);
    this.#pickSql = pickSql(tables);
    this.#pickAloneSql = pickAloneSql(tables);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (request.limit < 1) return { claims: [], lapsed: false };
    reach("claim.before_lease");
    const { changes, waitsAlone } = await this.#transactions.run((session) => this.#lease(session, request));
    reach("claim.after_lease");
    const last = changes.findLast(({ lease }) => lease !== undefined);
    if (last) this.#cursor = last.row.endpoint.number;
    return { claims: changes.flatMap((change) => claimOf(change) ?? []), lapsed: waitsAlone };
  }

  async #lease(session: Session, request: ClaimRequest): Promise<Leased> {
    const changes = await this.#leaseAlone(session, request);
    if (!request.alone) {
      for (let more = request.limit; more > 0;) {
        const rows = await this.#pick(session, request, changes);
        const leased = rows.map((row) => this.#told(claimedChange(row, false)));
        await this.#write(session, leased, request);
        changes.push(...leased);
        more = hasMore(rows, more) ? more - rows.length : 0;
      }
    }
    const waits = changes.some(
      ({ lapses, readyAfterMs }) => lapses >= LAPSES_BEFORE_ALONE && readyAfterMs === 0,
    );
    return {
      changes: changes.filter(({ lease }) => lease !== undefined),
      waitsAlone: waits && !request.alone,
    };
  }

  /** Leases one that has lapsed often, if that is asked for, and buries those that lapsed once more. */
  async #leaseAlone(session: Session, request: ClaimRequest): Promise<LaneChange[]> {
    const changes: LaneChange[] = [];
    let wanted = request.alone;
    for (const row of await this.#pickAlone(session, request)) {
      const change = this.#told(claimedChange(row, wanted));
      if (change.lease) wanted = false;
      changes.push(change);
    }
    // The others stay as they are, and wait for their turn.
    const changed = changes.filter(({ row, lease }) => lease ?? row.leasedUntilMs);
    await this.#write(session, changed, request);
    return changes;
  }

  async #write(session: Session, changes: readonly LaneChange[], request: ClaimRequest): Promise<void> {
    await recordEnded(session, changes, this.#tables);
    const ofKind = (kind: LockedRow["kind"]): LaneChange[] => changes.filter(({ row }) => row.kind === kind);
    await this.#lanes.write(session, ofKind("lane"), request);
    await this.#loose.write(session, ofKind("loose"), request);
  }

  async #pickAlone(session: Session, { run }: ClaimRequest): Promise<LockedRow[]> {
    const params = [String(MAX_ALONE), String(run.maxBytes)];
    const { rows } = await session.query({ text: this.#pickAloneSql, params, prepared: true });
    return [...lockedRowsOf(rows).values()];
  }

  async #pick(session: Session, request: ClaimRequest, leased: readonly LaneChange[]): Promise<LockedRow[]> {
    const inFlight = new Map(request.inFlight);
    for (const { row, lease } of leased) {
      if (lease) inFlight.set(row.endpoint.id, (inFlight.get(row.endpoint.id) ?? 0) + 1);
    }
    const { rows } = await session.query({
      text: this.#pickSql,
      params: [
        String(this.#cursor),
        String(request.limit - leased.filter(({ lease }) => lease).length),
        textArray([...inFlight.keys()]),
        numberArray([...inFlight.values()]),
        String(request.run.maxEvents),
        String(request.run.maxBytes),
      ],
      prepared: true,
    });
    return [...lockedRowsOf(rows).values()];
  }

  /** A lane whose head is not there can only be mended by a person: they are told, again and again, and nobody else has to wait. */
  #told(change: LaneChange): LaneChange {
    const { row } = change;
    if (row.run.length > 0) return change;
    const message = `The ${row.kind} ${row.id} has no delivery or no event at its head, ${row.head}.`;
    notify(this.#observer, { kind: "store_failed", operation: "claim", code: "store_unavailable", message });
    return { ...unleased(row), readyAfterMs: MISSING_AGAIN_MS };
  }
}

interface Leased {
  readonly changes: readonly LaneChange[];
  /** Whether something waits for a claim with `alone`. */
  readonly waitsAlone: boolean;
}

/** Whether an endpoint had to leave a part of its due lanes for others, which then did not need their share. */
function hasMore(rows: readonly LockedRow[], limit: number): boolean {
  if (rows.length === 0 || rows.length >= limit) return false;
  const counts = new Map<bigint, number>();
  for (const { endpoint } of rows) counts.set(endpoint.number, (counts.get(endpoint.number) ?? 0) + 1);
  return counts.size > 1 && Math.max(...counts.values()) >= Math.ceil(limit / counts.size);
}
