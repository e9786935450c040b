import type { AttemptRecord } from "../../delivery/attempt-record.js";
import type { DeadBecause } from "../../delivery/dead.js";
import { deliveryIdOf } from "../../delivery/delivery-id.js";
import type { Delivery, Lane } from "./outbox-lane.js";

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

/** What became of deliveries: their attempts, those that died and those that were cancelled. */
export class History {
  readonly #attempts = new Map<string, AttemptRecord[]>();
  readonly #dead = new Map<string, DeadRow>();
  readonly #cancelled: CancelledDelivery[] = [];
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
    { sequence, event }: Delivery,
    how: { because: CancelledBecause; at: Date },
  ): void {
    const { endpointId } = lane;
    this.#cancelled.push({ id: idOf(lane, sequence), endpointId, eventId: event.id, ...how });
  }

  cancelled(): readonly CancelledDelivery[] {
    return [...this.#cancelled];
  }
}

/** With bytes of its own: what others do with theirs must not change history. */
function copyOf(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, answer: attempt.answer?.slice() };
}

function idOf({ kind, id }: Lane, sequence: bigint): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}
