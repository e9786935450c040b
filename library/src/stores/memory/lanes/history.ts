import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { DeadDelivery } from "../../../lanes/lane.js";
import { idOf } from "./lane-row.js";
import type { Delivery, LaneRow } from "./lane-row.js";

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
export interface DeadRow extends Pick<DeadDelivery, "because" | "attempts" | "last"> {
  readonly id: string;
  /** In the order of dying. */
  readonly number: number;
  readonly lane: LaneRow;
  readonly delivery: Delivery;
  readonly diedAt: Date;
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
  }

  /** Kept when the delivery is redriven: the place in which it died may be another than its new one. */
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

  /** The delivery is dead no more. */
  removeDead(id: string): void {
    this.#dead.delete(id);
  }

  /** Forgets the dead letters of a removed endpoint: an endpoint that is added under the same id must not get them. */
  removeAllDead(endpointId: string): void {
    for (const { id, lane } of this.#dead.values()) if (lane.endpointId === endpointId) this.#dead.delete(id);
  }

  addCancelled(
    lane: LaneRow,
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

/** With bytes of its own: what a caller does with its array must not change history. */
function copyOf(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, answer: attempt.answer?.slice() };
}
