import type { Claim } from "../../../lanes/lane-store.js";
import type { Place } from "../../../outbox/fan-out.js";
import { idOf } from "../operator/history.js";
import { Lane } from "./lane.js";
import type { StoredEvent } from "./lane.js";

/** A place that an event was given, for good: what waited there may have left it. */
export interface GivenPlace {
  readonly lane: Lane;
  readonly sequence: bigint;
  readonly event: StoredEvent;
}

/** Every lane and every delivery without one. */
export class Lanes {
  readonly #lanes = new Map<bigint, Lane>();
  readonly #loose = new Map<bigint, Lane>();
  /** By endpoint, then by key: joined into one text, two of them could be the same. */
  readonly #byKey = new Map<string, Map<string, Lane>>();
  /** Those that are not empty, so that a claim need not look at all that ever were. */
  readonly #waiting = new Set<Lane>();
  /** By the number of their event. */
  readonly #places = new Map<bigint, GivenPlace[]>();
  readonly #placesById = new Map<string, GivenPlace>();
  #lastId = 0n;
  #lastLooseId = 0n;

  /** Puts an event at the end of its lane, or beside all lanes where it has no key. */
  append(event: StoredEvent, { endpointId, laneKey }: Place, at: { round: number; now: number }): void {
    const lane =
      laneKey === undefined ? this.#addLoose(endpointId) : this.#laneOf(endpointId, laneKey, event);
    this.#keepPlace({ lane, sequence: lane.end, event });
    lane.append(event, at.round, at.now);
    this.#waiting.add(lane);
  }

  /** In the order in which it was given them. */
  placesOf({ rowId }: StoredEvent): readonly GivenPlace[] {
    return this.#places.get(rowId) ?? [];
  }

  placeOf(deliveryId: string): GivenPlace | undefined {
    return this.#placesById.get(deliveryId);
  }

  /** False when it was taken away with its endpoint. */
  isThere(lane: Lane): boolean {
    return this.find(lane.kind, lane.id) === lane;
  }

  #keepPlace(place: GivenPlace): void {
    const { rowId } = place.event;
    const known = this.#places.get(rowId);
    if (known === undefined) this.#places.set(rowId, [place]);
    else known.push(place);
    this.#placesById.set(idOf(place.lane, place.sequence), place);
  }

  find(kind: Claim["kind"], id: bigint): Lane | undefined {
    return (kind === "lane" ? this.#lanes : this.#loose).get(id);
  }

  /** Those that hold something, in the order in which they came to hold it. */
  waiting(): readonly Lane[] {
    for (const lane of this.#waiting) if (lane.isEmpty) this.#forget(lane);
    return [...this.#waiting];
  }

  /** Takes away all lanes of an endpoint, and returns those that held something. */
  remove(endpointId: string): readonly Lane[] {
    const removed = this.waiting().filter((lane) => lane.endpointId === endpointId);
    for (const lane of removed) this.#forget(lane);
    for (const lane of this.#byKey.get(endpointId)?.values() ?? []) this.#lanes.delete(lane.id);
    this.#byKey.delete(endpointId);
    return removed;
  }

  /** A lane is kept, for its place in the sequence; a loose delivery has none. */
  #forget(lane: Lane): void {
    this.#waiting.delete(lane);
    if (lane.kind === "loose") this.#loose.delete(lane.id);
  }

  #laneOf(endpointId: string, key: string, event: StoredEvent): Lane {
    const known = this.#byKey.get(endpointId) ?? new Map<string, Lane>();
    this.#byKey.set(endpointId, known);
    const lane = known.get(key) ?? this.#addLane(endpointId, key, event.rowId);
    known.set(key, lane);
    return lane;
  }

  // Its first sequence is the event's own number: the lane of an endpoint that was removed and added again goes on
  // above what its receivers have seen.
  #addLane(endpointId: string, key: string, firstSequence: bigint): Lane {
    const id = (this.#lastId += 1n);
    const lane = new Lane({ kind: "lane", id, endpointId, key, firstSequence });
    this.#lanes.set(id, lane);
    return lane;
  }

  #addLoose(endpointId: string): Lane {
    const id = (this.#lastLooseId += 1n);
    const lane = new Lane({ kind: "loose", id, endpointId, key: undefined, firstSequence: 0n });
    this.#loose.set(id, lane);
    return lane;
  }
}
