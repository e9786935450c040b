import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { Claimable, ClaimAnswer, ClaimRequest } from "../../../lanes/lane-store.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { LaneChange } from "../../../lanes/lane.js";
import { claimed, runsAlone, withoutEvent } from "../../../lanes/lane.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { textArray } from "../client/column-arrays.js";
import type { Answer, Scope, Session, Statement } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { readStored } from "../outbox/endpoint-row.js";
import type { LockedLane } from "./lane-row.js";
import { lockedLanesOf } from "./lane-row.js";
import { writeTurns } from "./lane-write.js";
import { pickAloneSql, pickBriefSql, pickDueSql } from "./pick-due.js";
import { recordEnded } from "./record-ended.js";
import type { Turn } from "./run.js";
import { claimOf, turnOf, unleasedTurn } from "./run.js";

// How long an endpoint whose secrets cannot be opened is left alone, before they are looked at again.
const UNOPENED_AGAIN_MS = 10_000;
// More than any consumer has room for.
const FULL = 2 ** 31 - 1;

export interface ClaimParts extends StoreDatabase {
  readonly secrets: EndpointSecrets;
  readonly observer: Observer | undefined;
}

/** Leases what is due. */
export class Claimer {
  readonly #parts: ClaimParts;
  // The consumer that was served last, by brief claims and by others: the next claim begins after it.
  readonly #cursors = { all: 0n, brief: 0n };
  #openedAt = systemClock.monotonic();

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (request.limit < 1) return { claims: [], lapsed: false };
    const { transactions, secrets, tables } = this.#parts;
    if (secrets.unopened.size > 0) await this.#openAgain();
    const pick = request.alone
      ? { text: pickAloneSql[request.of.kind](tables), params: idsOf(request.of), prepared: true }
      : this.#pick(request, []);
    reach("claim.before_lease");
    const turns = await transactions.runFrom(pick, (scope, answer) =>
      this.#lease(scope, lockedIn(answer), request),
    );
    reach("claim.after_lease");
    const last = turns.findLast(({ run }) => run !== undefined);
    if (last) this.#cursors[request.brief ? "brief" : "all"] = last.locked.consumer;
    const waitsAlone = turns.some(
      ({ change, run }) => !run && change.readyAfterMs === 0 && runsAlone(change),
    );
    return { claims: turns.flatMap((turn) => claimOf(turn) ?? []), lapsed: waitsAlone && !request.alone };
  }

  /** Leases what was picked; and what more is due, where a consumer had to leave some for others that did not need their share. */
  async #lease(
    scope: Scope<unknown>,
    picked: readonly LockedLane[],
    request: ClaimRequest,
  ): Promise<readonly Turn[]> {
    const { tables } = this.#parts;
    const turns: Turn[] = [];
    for (let found = picked; ;) {
      // A handler has no secrets.
      const open = request.of.kind === "handler" ? found : await this.#opened(scope, found);
      const limit = request.limit - turns.length;
      const made = this.#turnsOf(open, request);
      turns.push(...made);
      const written = made.filter(isChanged);
      await recordEnded(scope, written, tables);
      const write = written.length > 0 ? writeTurns(written, request, tables) : undefined;
      const due = open.filter(({ lane }) => !runsAlone(lane));
      if (request.alone || (!hasMore(due, limit) && open.length === found.length)) {
        if (write) scope.closing = write;
        return turns;
      }
      if (write) await scope.query(write);
      const again = lockedIn(await scope.query(this.#pick(request, turns)));
      found = again.filter(({ lane }) => !runsAlone(lane));
    }
  }

  #turnsOf(found: readonly LockedLane[], { alone, run }: ClaimRequest): Turn[] {
    let taken = false;
    return found.map((locked) => {
      const turn = this.#turnOf(locked, { alone, run });
      // What runs alone has nothing beside it.
      if (taken) return unleasedTurn(locked, turn.change);
      if (alone && turn.run) taken = true;
      return turn;
    });
  }

  #turnOf(locked: LockedLane, { alone, run }: Pick<ClaimRequest, "alone" | "run">): Turn {
    const change = claimed(locked.lane, { alone, dead: locked.dead });
    // Where the head is another than the one that was read, the next claim finds out.
    const isThere =
      change.head !== locked.lane.head || locked.deliveries.some(({ sequence }) => sequence === change.head);
    if (isThere || change.leasable === "nothing") return turnOf(locked, change, run);
    return unleasedTurn(locked, this.#withoutHead(locked, change));
  }

  /** Somebody has changed the tables by hand: that is a loud fault of this delivery, and no other lane waits for it. */
  #withoutHead({ lane, identity: { kind, id }, dead, orphans }: LockedLane, change: LaneChange): LaneChange {
    const isOrphan = orphans.some(({ sequence }) => sequence === change.head);
    notify(this.#parts.observer, {
      kind: "store_failed",
      operation: "claim",
      code: "store_unavailable",
      message: isOrphan
        ? `The event of ${nameOf(kind, id, change.head)} is not in the table of events: the delivery is dead (event_missing).`
        : `Lane ${id} was halted: its head, sequence ${change.head}, is not in the table of deliveries. Skip it to go on.`,
    });
    if (isOrphan) return withoutEvent(lane, change, dead);
    return { ...change, state: "halted", readyAfterMs: undefined, blocked: "now", leasable: "nothing" };
  }

  #pick(request: ClaimRequest, turns: readonly Turn[]): Statement {
    const inFlight = new Map(request.inFlight);
    for (const id of this.#parts.secrets.unopened) inFlight.set(id, FULL);
    const leased = turns.filter(({ run }) => run !== undefined);
    for (const { locked } of leased) {
      const { id } = locked.identity.consumer;
      inFlight.set(id, (inFlight.get(id) ?? 0) + 1);
    }
    return {
      text: (request.brief ? pickBriefSql : pickDueSql)[request.of.kind](this.#parts.tables),
      params: [
        String(this.#cursors[request.brief ? "brief" : "all"]),
        String(request.limit - leased.length),
        JSON.stringify(Object.fromEntries(inFlight)),
        JSON.stringify(Object.fromEntries(request.shares?.of ?? [])),
        String(request.run.maxEvents),
        String(request.shares?.others ?? FULL),
        ...idsOf(request.of),
      ],
      prepared: true,
    };
  }

  /** Those that can be signed. Looked at before anything is leased: what is claimed and cannot be signed would be given up. */
  async #opened(session: Session, found: readonly LockedLane[]): Promise<readonly LockedLane[]> {
    const { secrets } = this.#parts;
    const consumers = found.map(({ identity }) => identity.consumer);
    const unseen = consumers.filter((consumer) => !secrets.isKnown(consumer));
    if (unseen.length > 0) await this.#open(session, new Set(unseen.map(({ id }) => id)));
    return found.filter(({ identity }) => !secrets.unopened.has(identity.consumer.id));
  }

  async #open(session: Session, ids: ReadonlySet<string>): Promise<void> {
    const { secrets, tables } = this.#parts;
    const stored = await readStored(session, [...ids], tables);
    const found = new Set(stored.map(({ endpoint }) => secrets.opened(endpoint).id));
    for (const id of ids) if (!found.has(id)) secrets.forget(id);
  }

  /** The endpoints may have been given other secrets. */
  async #openAgain(): Promise<void> {
    const { transactions, secrets } = this.#parts;
    const now = systemClock.monotonic();
    if (now - this.#openedAt < UNOPENED_AGAIN_MS) return;
    this.#openedAt = now;
    await this.#open({ query: (statement) => transactions.read(statement) }, new Set(secrets.unopened));
  }
}

/** The handlers to be claimed; an endpoint is not claimed by its name. */
function idsOf(of: Claimable): readonly string[] {
  return of.kind === "handler" ? [textArray(of.ids)] : [];
}

function nameOf(kind: "lane" | "loose", id: bigint, sequence: bigint): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}

function lockedIn({ rows }: Answer): readonly LockedLane[] {
  return [...lockedLanesOf(rows).values()];
}

/** What waits to run alone stays as it is. */
function isChanged({ locked: { lane }, change, run }: Turn): boolean {
  return (
    run !== undefined || lane.lease !== undefined || change.head !== lane.head || change.readyAfterMs !== 0
  );
}

/** Whether a consumer had to leave a part of its due lanes for others, which then did not need their share. */
function hasMore(found: readonly LockedLane[], limit: number): boolean {
  if (found.length === 0 || found.length >= limit) return false;
  const counts = new Map<bigint, number>();
  for (const { consumer } of found) counts.set(consumer, (counts.get(consumer) ?? 0) + 1);
  return counts.size > 1 && Math.max(...counts.values()) >= Math.ceil(limit / counts.size);
}
