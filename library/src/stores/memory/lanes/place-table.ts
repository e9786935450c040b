import type { StoredEvent } from "../outbox/event-log.js";
import { idOf } from "./lane-row.js";
import type { LaneRow } from "./lane-row.js";

/** A place that an event was given, for good: what waited there may have left it. */
export interface GivenPlace {
  readonly lane: LaneRow;
  readonly sequence: bigint;
  readonly event: StoredEvent;
}

/** Every place that was given, until retention removes it. */
export class PlaceTable {
  /** By the number of their event. */
  readonly #byEvent = new Map<bigint, GivenPlace[]>();
  readonly #byDelivery = new Map<string, GivenPlace>();

  /** In the order in which the event was given them. */
  ofEvent({ rowId }: StoredEvent): readonly GivenPlace[] {
    return this.#byEvent.get(rowId) ?? [];
  }

  ofDelivery(deliveryId: string): GivenPlace | undefined {
    return this.#byDelivery.get(deliveryId);
  }

  /** Whether something is told of a lane. */
  isAnyIn(lane: LaneRow): boolean {
    return [...this.#byDelivery.values()].some((place) => place.lane === lane);
  }

  remove(place: GivenPlace): void {
    const { rowId } = place.event;
    const others = this.ofEvent(place.event).filter((each) => each !== place);
    if (others.length === 0) this.#byEvent.delete(rowId);
    else this.#byEvent.set(rowId, others);
    this.#byDelivery.delete(idOf(place.lane, place.sequence));
  }

  add(place: GivenPlace): void {
    const { rowId } = place.event;
    const known = this.#byEvent.get(rowId);
    if (known === undefined) this.#byEvent.set(rowId, [place]);
    else known.push(place);
    this.#byDelivery.set(idOf(place.lane, place.sequence), place);
  }
}
