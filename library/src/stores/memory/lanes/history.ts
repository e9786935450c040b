import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { DeadDelivery } from "../../../lanes/dead.js";
import type { DeliveryEnd } from "../../../operator/view-store.js";
import { idOf } from "./lane-row.js";
import type { Delivery, LaneRow } from "./lane-row.js";

/** Why a delivery will not be made. */
export type CancelledBecause =
  | "expired"
  | "skipped"
  | "cancelled"
  | "endpoint_removed"
  | "consumer_removed"
  | "redriven";

/** A delivery that was cancelled. */
export interface CancelledDelivery {
  /** `dlv_…` */
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly because: CancelledBecause;
  readonly at: Date;
}

/** The same, and what of it is needed to redrive it. */
interface CancelledRow extends CancelledDelivery {
  readonly delivery: Delivery;
}

/** A delivery that died, where it was then. */
export interface DeadRow extends Pick<DeadDelivery, "because" | "attempts" | "last"> {
  readonly id: string;
  /** In the order of dying. */
  readonly number: number;
  readonly lane: LaneRow;
  readonly delivery: Delivery;
  readonly diedAt: Date;
  /** How a person passed over it. */
  readonly passed?: "skipped" | "cancelled";
}

/** A dead letter that somebody has resolved. */
export interface ResolvedDead {
  readonly id: string;
  readonly round: number;
  readonly at: Date;
}

/** How a delivery ended the last time, other than by being delivered. */
export interface Ending {
  readonly state: "dead" | "cancelled";
  readonly round: number;
  readonly because: string;
}

/** What became of deliveries: their attempts, those that died and those that were cancelled. */
export class History {
  readonly #attempts = new Map<string, AttemptRecord[]>();
  readonly #dead = new Map<string, DeadRow>();
  /** Dead heads that a person passed over: not listed, and still to be redriven. */
  readonly #passed = new Map<string, DeadRow>();
  #cancelled: CancelledRow[] = [];
  /** Of removed consumers: what a person passed over there is not for a later one of the same id. */
  readonly #closed = new WeakSet<Delivery>();
  #resolved: ResolvedDead[] = [];
  readonly #endings = new Map<string, Ending>();
  readonly #ends = new Map<string, DeliveryEnd[]>();
  #died = 0;

  /** Writes an attempt. An attempt of the same round and number that is there already stays as it is. */
  addAttempt(lane: LaneRow, attempt: AttemptRecord): void {
    const id = idOf(lane, attempt.sequence);
    const known = this.#attempts.get(id) ?? [];
    const { round, number } = attempt;
    if (known.some((each) => each.round === round && each.number === number)) return;
    known.push(copyOf(attempt));
    this.#attempts.set(id, known);
  }

  attempts(id: string): readonly AttemptRecord[] {
    const ordered = (this.#attempts.get(id) ?? []).toSorted(
      (a, b) => a.round - b.round || a.number - b.number,
    );
    return ordered.map(copyOf);
  }

  addDead(lane: LaneRow, delivery: Delivery, how: Omit<DeadDelivery, "sequence"> & { diedAt: Date }): void {
    const id = idOf(lane, delivery.sequence);
    this.#died += 1;
    this.#dead.set(id, { id, number: this.#died, lane, delivery, ...how });
    this.#endings.set(id, { state: "dead", round: delivery.round, because: how.because });
    this.#end(id, { round: delivery.round, how: "dead", because: how.because, at: how.diedAt });
  }

  /** How its rounds ended, other than by being delivered. */
  ends(id: string): readonly DeliveryEnd[] {
    return [...(this.#ends.get(id) ?? [])];
  }

  #end(id: string, end: Omit<DeliveryEnd, "resolvedAt" | "resolvedHow">): void {
    const known = this.#ends.get(id) ?? [];
    this.#ends.set(id, [...known, { ...end, resolvedAt: undefined, resolvedHow: undefined }]);
  }

  /** Kept when the delivery is redriven: the place in which it died may be another than its new one. */
  ending(id: string): Ending | undefined {
    return this.#endings.get(id);
  }

  /** What can be redriven. */
  dead(id: string): DeadRow | undefined {
    return this.#dead.get(id) ?? this.#passed.get(id);
  }

  /** Newest first. */
  allDead(): readonly DeadRow[] {
    return [...this.#dead.values()].toSorted((a, b) => b.number - a.number);
  }

  /** The dead letter is listed no more. */
  resolveDead(id: string, at: Date, how: DeliveryEnd["resolvedHow"] = "redriven"): void {
    const dead = this.dead(id);
    if (dead === undefined) return;
    this.#dead.delete(id);
    this.#passed.delete(id);
    if (how === "skipped" || how === "cancelled") this.#passed.set(id, { ...dead, passed: how });
    const { round } = dead.delivery;
    this.#resolved = this.#resolved.filter((each) => each.id !== id || each.round !== round);
    this.#resolved.push({ id, round, at });
    const ends = (this.#ends.get(id) ?? []).map((end) =>
      end.how === "dead" && end.round === round
        ? Object.assign({}, end, { resolvedAt: at, resolvedHow: how })
        : end,
    );
    this.#ends.set(id, ends);
  }

  wasRedriven(id: string, round: number): boolean {
    const ends = this.#ends.get(id) ?? [];
    return ends.some(
      (end) => end.round === round && (end.resolvedHow === "redriven" || end.because === "redriven"),
    );
  }

  /** Longest resolved first. */
  resolved(): readonly ResolvedDead[] {
    return this.#resolved;
  }

  /** Whether a dead letter is kept of it, resolved or not. */
  hasDead(id: string): boolean {
    return this.#dead.has(id) || this.#resolved.some((each) => each.id === id);
  }

  removeResolved(gone: ReadonlySet<ResolvedDead>): void {
    for (const { id, round } of gone)
      if (this.#passed.get(id)?.delivery.round === round) this.#passed.delete(id);
    this.#resolved = this.#resolved.filter((each) => !gone.has(each));
  }

  removeCancelled(gone: ReadonlySet<CancelledDelivery>): void {
    const ids = new Set([...gone].map(({ id }) => id));
    this.#cancelled = this.#cancelled.filter(({ id }) => !ids.has(id));
  }

  /** Removes the attempts of a delivery that `which` names, and says how many. */
  removeAttempts(id: string, which: (attempt: AttemptRecord) => boolean = () => true): number {
    const known = this.#attempts.get(id) ?? [];
    const kept = known.filter((attempt) => !which(attempt));
    if (kept.length === 0) this.#attempts.delete(id);
    else this.#attempts.set(id, kept);
    return known.length - kept.length;
  }

  /** Empties the answers of a delivery's attempts, and says how many. */
  emptyAnswers(id: string): number {
    const known = this.#attempts.get(id) ?? [];
    const full = known.filter(({ answer }) => answer !== undefined);
    for (const attempt of full) known[known.indexOf(attempt)] = { ...attempt, answer: undefined };
    return full.length;
  }

  /** Whether anything tells of a delivery. */
  tells(id: string): boolean {
    return this.#attempts.has(id) || this.hasDead(id) || this.#cancelled.some((each) => each.id === id);
  }

  removeEnding(id: string): void {
    this.#endings.delete(id);
    this.#ends.delete(id);
  }

  /** Resolves the dead letters of a removed endpoint: an endpoint that is added under the same id must not get them. */
  resolveAllDead(endpointId: string, at: Date): void {
    for (const { id, lane } of [...this.#dead.values(), ...this.#passed.values()]) {
      if (lane.endpointId !== endpointId) continue;
      this.resolveDead(id, at, "cancelled");
      this.#passed.delete(id);
    }
  }

  /** Nothing that was cancelled at a removed consumer is redriven. */
  closeCancelled(endpointId: string): void {
    for (const each of this.#cancelled) if (each.endpointId === endpointId) this.#closed.add(each.delivery);
  }

  addCancelled(
    lane: LaneRow,
    { sequence, round, event }: Delivery,
    how: { because: CancelledBecause; at: Date },
  ): void {
    const { endpointId } = lane;
    const id = idOf(lane, sequence);
    const delivery = { sequence, round, event };
    this.#cancelled.push({ id, endpointId, eventId: event.id, delivery, ...how });
    this.#endings.set(id, { state: "cancelled", round, because: how.because });
    this.#end(id, { round, how: "cancelled", because: how.because, at: how.at });
  }

  /** Marks what a person passed over as redriven, once: what it was, or undefined where there is none. */
  redriveCancelled(id: string): Delivery | undefined {
    const at = this.#cancelled.findLastIndex(
      (each) =>
        each.id === id &&
        (each.because === "skipped" || each.because === "cancelled") &&
        !this.#closed.has(each.delivery),
    );
    const row = this.#cancelled[at];
    if (row === undefined) return undefined;
    const { delivery } = row;
    this.#cancelled[at] = { ...row, because: "redriven" };
    this.#endings.set(id, { state: "cancelled", round: delivery.round, because: "redriven" });
    const redriven = (end: DeliveryEnd): DeliveryEnd =>
      end.how === "cancelled" && end.round === delivery.round ? { ...end, because: "redriven" } : end;
    this.#ends.set(id, (this.#ends.get(id) ?? []).map(redriven));
    return delivery;
  }

  /** Whose handler or endpoint it is, of a delivery that was cancelled. */
  cancelledAt(id: string): string | undefined {
    return this.#cancelled.findLast((each) => each.id === id)?.endpointId;
  }

  cancelled(): readonly CancelledDelivery[] {
    return this.#cancelled.map(({ id, endpointId, eventId, because, at }) => ({
      id,
      endpointId,
      eventId,
      because,
      at,
    }));
  }
}

/** With bytes of its own: what a caller does with its array must not change history. */
function copyOf(attempt: AttemptRecord): AttemptRecord {
  return structuredClone(attempt);
}
