import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { ClaimAnswer, ClaimRequest } from "../../../lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { Watermarks } from "./claim-watermarks.js";
import { pickAloneSql, pickSql } from "./pick-due.js";
import type { LockedRow } from "./locked-rows.js";
import { lockedRowsOf } from "./locked-rows.js";
import { numberArray, textArray } from "../client/column-arrays.js";
import type { Answer, Scope, Session, Statement } from "../client/database.js";
import { recordEnded } from "./record-ended.js";
import { ENDPOINT_COLUMNS, storedEndpointOf } from "../outbox/endpoint-row.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import type { KnownLeases } from "./known-leases.js";
import type { LaneChange } from "./lane-change.js";
import { claimedChange, claimOf, unleased } from "./lane-change.js";
import { LaneWriter } from "./lane-write.js";
import { LooseWriter } from "./loose-write.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import { closeWith } from "../client/own-transaction.js";

const MISSING_AGAIN_MS = 60_000;

// How long an endpoint whose secrets cannot be opened is left alone, before they are looked at again.
const UNOPENED_AGAIN_MS = 10_000;
// More than any endpoint has room for.
const FULL = 2 ** 31 - 1;

export interface ClaimerParts {
  readonly transactions: OwnTransactions;
  readonly tables: OutboxTables;
  readonly secrets: EndpointSecrets;
  readonly leases: KnownLeases;
  readonly observer: Observer | undefined;
}

/** Leases what is due. */
export class Claimer {
  readonly #transactions: OwnTransactions;
  readonly #tables: OutboxTables;
  readonly #secrets: EndpointSecrets;
  readonly #leases: KnownLeases;
  readonly #observer: Observer | undefined;
  readonly #lanes: LaneWriter;
  readonly #loose: LooseWriter;
  readonly #pickSql: string;
  readonly #pickAlone: Statement;
  readonly #watermarks = new Watermarks(systemClock);
  // The endpoint that was served last: the next claim begins after it.
  #cursor = 0n;
  #openedAt = systemClock.monotonic();

  constructor({ transactions, tables, secrets, leases, observer }: ClaimerParts) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#secrets = secrets;
    this.#leases = leases;
    this.#observer = observer;
    this.#lanes = new LaneWriter(tables);
    this.#loose = new LooseWriter(tables);
    this.#pickSql = pickSql(tables);
    this.#pickAlone = { text: pickAloneSql(tables), params: [], prepared: true };
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (request.limit < 1) return { claims: [], lapsed: false };
    if (this.#secrets.unopened.size > 0) await this.#openAgain();
    const pick = request.alone ? this.#pickAlone : this.#pick(request, []);
    reach("claim.before_lease");
    const changes = await this.#transactions.runFrom(pick, (scope, answer) =>
      this.#lease(scope, rowsOf(answer, request), request),
    );
    reach("claim.after_lease");
    const leased = changes.filter(({ lease }) => lease !== undefined);
    const last = leased.at(-1);
    if (last) this.#cursor = last.row.endpoint.number;
    const waitsAlone = changes.some((change) => change.readyAfterMs === 0 && runsAlone(change));
    return {
      claims: leased.flatMap((change) => claimOf(change) ?? []),
      lapsed: waitsAlone && !request.alone,
    };
  }

  async #lease(
    scope: Scope<unknown>,
    picked: readonly LockedRow[],
    request: ClaimRequest,
  ): Promise<readonly LaneChange[]> {
    const changes: LaneChange[] = [];
    for (let rows = picked; ;) {
      const open = await this.#opened(scope, rows);
      const made = this.#changesOf(open, request);
      changes.push(...made);
      const written = made.filter(isChanged);
      await recordEnded(scope, written, this.#tables);
      const statements = [this.#lanes.statement(written, request), this.#loose.statement(written, request)];
      const due = open.filter((row) => !runsAlone(row));
      const goesOn = this.#goesOn(due, request.limit - changes.length + made.length);
      if (request.alone || (!goesOn && open.length === rows.length)) {
        this.#leases.note(request.worker, changes);
        await closeWith(scope, statements);
        return changes;
      }
      for (const statement of statements) if (statement) await scope.query(statement);
      const answer = await scope.query(this.#pick(request, changes));
      rows = rowsOf(answer, request).filter((row) => !runsAlone(row));
    }
  }

  /** Whether there may be more that is due than was found. */
  #goesOn(due: readonly LockedRow[], limit: number): boolean {
    if (due.length >= limit) {
      this.#watermarks.learn(due);
      return false;
    }
    const unseen = !this.#watermarks.isEmpty;
    this.#watermarks.forget();
    return unseen || hasMore(due, limit);
  }

  #changesOf(rows: readonly LockedRow[], { alone }: ClaimRequest): LaneChange[] {
    let wanted = alone;
    return rows.map((row) => {
      const change = this.#told(claimedChange(row, wanted));
      // One that runs alone has nothing beside it.
      if (change.lease) wanted = false;
      return change;
    });
  }

  #pick(request: ClaimRequest, leased: readonly LaneChange[]): Statement {
    const inFlight = new Map(request.inFlight);
    for (const id of this.#secrets.unopened) inFlight.set(id, FULL);
    for (const { row, lease } of leased) {
      if (lease) inFlight.set(row.endpoint.id, (inFlight.get(row.endpoint.id) ?? 0) + 1);
    }
    return {
      text: this.#pickSql,
      params: [
        String(this.#cursor),
        String(request.limit - leased.filter(({ lease }) => lease).length),
        textArray([...inFlight.keys()]),
        numberArray([...inFlight.values()]),
        String(request.run.maxEvents),
        ...this.#watermarks.params(),
      ],
      prepared: true,
    };
  }

  /** Those that can be signed. Looked at before anything is leased: what is claimed and cannot be signed would be given up. */
  async #opened(session: Session, rows: readonly LockedRow[]): Promise<readonly LockedRow[]> {
    const unseen = rows.filter(({ endpoint: { id, version } }) => !this.#secrets.isKnown(id, version));
    if (unseen.length > 0) await this.#open(session, new Set(unseen.map(({ endpoint }) => endpoint.id)));
    const { unopened } = this.#secrets;
    return unopened.size === 0 ? rows : rows.filter(({ endpoint }) => !unopened.has(endpoint.id));
  }

  async #open(session: Session, ids: ReadonlySet<string>): Promise<void> {
    const { rows } = await session.query({
      text: `
        select ${ENDPOINT_COLUMNS} from ${this.#tables.endpoint} where public_id = any ($1::text[]) and removed_at is null`,
      params: [textArray([...ids])],
    });
    const found = rows.map((row) => this.#secrets.opened(storedEndpointOf(row).endpoint));
    const missing = new Set(ids);
    for (const { id } of found) missing.delete(id);
    for (const id of missing) this.#secrets.forget(id);
  }

  /** They may have been given others. */
  async #openAgain(): Promise<void> {
    const now = systemClock.monotonic();
    if (now - this.#openedAt < UNOPENED_AGAIN_MS) return;
    this.#openedAt = now;
    await this.#open({ query: (statement) => this.#transactions.read(statement) }, this.#secrets.unopened);
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

function rowsOf({ rows }: Answer, { run }: ClaimRequest): LockedRow[] {
  return [...lockedRowsOf(rows, run.maxBytes).values()];
}

/** What waits to run alone stays as it is. */
function isChanged({ row, head, lease, readyAfterMs }: LaneChange): boolean {
  return lease !== undefined || row.leasedUntilMs !== undefined || head !== row.head || readyAfterMs !== 0;
}

function runsAlone({ lapses }: Pick<LockedRow, "lapses">): boolean {
  return lapses >= LAPSES_BEFORE_ALONE;
}

/** Whether an endpoint had to leave a part of its due lanes for others, which then did not need their share. */
function hasMore(rows: readonly LockedRow[], limit: number): boolean {
  if (rows.length === 0 || rows.length >= limit) return false;
  const counts = new Map<bigint, number>();
  for (const { endpoint } of rows) counts.set(endpoint.number, (counts.get(endpoint.number) ?? 0) + 1);
  return counts.size > 1 && Math.max(...counts.values()) >= Math.ceil(limit / counts.size);
}
