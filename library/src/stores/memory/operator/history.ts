import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { DeadBecause } from "../../../lanes/dead.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { Delivery, Lane } from "../lanes/lane.js";

/** Why a delivery will not be made. */
export type CancelledBecause = "expired" | "skipped" | "endpoint_removed";

/** A delivery that was cancelled. */
export interface CancelledDelivery {
  /** `dlv_…` */
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly because: CancelledBecause;
  readonly at: Date;
}

/** A delivery that died, where it was then. */
export interface DeadRow {
  readonly id: string;
  /** In the order of dying. */
  readonly number: number;
  readonly lane: Lane;
  readonly delivery: Delivery;
  readonly because: DeadBecause;
  readonly diedAt: Date;
  readonly attempts: number;
  readonly last: AttemptRecord | undefined;
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
  readonly #cancelled: CancelledDelivery[] = [];
  readonly #endings = new Map<string, Ending>();
  #died = 0;

  /** Writes an attempt of a lane's delivery; one that is written already stays as it is. */
  addAttempt(lane: Lane, attempt: AttemptRecord): void {
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

  /** Notes that the head of a lane is dead. */
  addDead(lane: Lane, because: DeadBecause, diedAt: Date): void {
    const delivery = lane.headDelivery;
    const id = idOf(lane, delivery.sequence);
    const last = this.attempts(id).at(-1);
    this.#died += 1;
    const row = { id, number: this.#died, lane, delivery, because, diedAt, attempts: lane.attempts, last };
    this.#dead.set(id, row);
    this.#endings.set(id, { state: "dead", round: delivery.round, because });
  }

  /** Kept when it is redriven: the place that it died in may be another than the one that it got then. */
  ending(id: string): Ending | undefined {
    return this.#endings.get(id);
  }

  dead(id: string): DeadRow | undefined {
    return this.#dead.get(id);
  }

  /** Newest first. */
  allDead(): readonly DeadRow[] {
    return [...this.#dead.values()].toSorted((a, b) => b.number - a.number);
  }

  /** It is dead no more. */
  removeDead(id: string): void {
    this.#dead.delete(id);
  }

  addCancelled(
    lane: Lane,
    { sequence, round, event }: Delivery,
    how: { because: CancelledBecause; at: Date },
  ): void {
    const { endpointId } = lane;
    const id = idOf(lane, sequence);
    this.#cancelled.push({ id, endpointId, eventId: event.id, ...how });
    this.#endings.set(id, { state: "cancelled", round, because: how.because });
  }

  cancelled(): readonly CancelledDelivery[] {
    return [...this.#cancelled];
  }
}

/** With bytes of its own: what others do with theirs must not change history. */
function copyOf(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, answer: attempt.answer?.slice() };
}

/** The id of a delivery, by its place. */
export function idOf({ kind, id }: Pick<Lane, "kind" | "id">, sequence: bigint): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}
