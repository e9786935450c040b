import type { LaneChange } from "../../../lanes/lane.js";
import type { Claim } from "../../../lanes/lane-store.js";
import type { LaneName } from "../../../outbox/fan-out.js";
import { emptyLane, headOf, isEmpty } from "./lane-row.js";
import type { Delivery, LaneRow, LeaseRow } from "./lane-row.js";

/** Every lane and every delivery without one. */
export class LaneTable {
  readonly #lanes = new Map<bigint, LaneRow>();
  readonly #loose = new Map<bigint, LaneRow>();
  /** By consumer, then by name. */
  readonly #byKey = new Map<string, Map<string, LaneRow>>();
  /** Those that are not empty: a claim need not look at all that ever were. */
  readonly #waiting = new Set<LaneRow>();
  #generation = 1n;
  #lastId = 0n;
  #lastLooseId = 0n;

  find(kind: Claim["kind"], id: bigint): LaneRow | undefined {
    return (kind === "lane" ? this.#lanes : this.#loose).get(id);
  }

  /** False when it was removed with its endpoint, or is a loose delivery that has ended. */
  has(lane: LaneRow): boolean {
    return this.find(lane.kind, lane.id) === lane;
  }

  /** Those that hold something, in the order in which they came to hold it. */
  waiting(): readonly LaneRow[] {
    return [...this.#waiting];
  }

  /** The lane of a name. A new one begins at `firstSequence`. */
  laneOf(endpointId: string, name: LaneName, firstSequence: bigint): LaneRow {
    const known = this.#byKey.get(endpointId) ?? new Map<string, LaneRow>();
    this.#byKey.set(endpointId, known);
    const text = textOf(name);
    const lane = known.get(text) ?? this.#addLane(endpointId, name, firstSequence);
    known.set(text, lane);
    return lane;
  }

  addLoose(endpointId: string): LaneRow {
    const id = (this.#lastLooseId += 1n);
    const lane = emptyLane({
      kind: "loose",
      id,
      endpointId,
      tenant: "",
      source: "",
      key: undefined,
      generation: 0n,
      firstSequence: 0n,
    });
    this.#loose.set(id, lane);
    return lane;
  }

  /** Puts a delivery at the end of a lane; `readyAt` where that makes the lane due. */
  append(lane: LaneRow, { event, round }: Omit<Delivery, "sequence">, readyAt: number | undefined): void {
    lane.deliveries.set(lane.end, { event, sequence: lane.end, round });
    lane.end += 1n;
    if (readyAt !== undefined) lane.readyAt = readyAt;
    this.#waiting.add(lane);
  }

  /** Writes what the rule says. The lane's lease ends with it. */
  write(lane: LaneRow, change: LaneChange, now: number): void {
    const { state, epoch, last, attempts, failures, lapses, suspectUntil, skipIntended } = change;
    for (; lane.head < change.head; lane.head += 1n) lane.deliveries.delete(lane.head);
    Object.assign(lane, { state, epoch, last, attempts, failures, lapses, suspectUntil, skipIntended });
    lane.lease = undefined;
    lane.readyAt = change.readyAfterMs === undefined ? undefined : now + change.readyAfterMs;
    if (change.blocked !== "keep") lane.blockedAt = change.blocked === "now" ? now : undefined;
    if (isEmpty(lane)) this.#forget(lane);
  }

  /** The head's new round. */
  writeRound(lane: LaneRow, round: number): void {
    lane.deliveries.set(lane.head, { ...headOf(lane), round });
  }

  lease(lane: LaneRow, epoch: bigint, lease: LeaseRow): void {
    lane.epoch = epoch;
    lane.lease = lease;
    lane.readyAt = lease.endsAt;
  }

  /** Removes all lanes of an endpoint, and returns those that held something. */
  remove(endpointId: string): readonly LaneRow[] {
    const removed = this.waiting().filter((lane) => lane.endpointId === endpointId);
    for (const lane of removed) this.#forget(lane);
    for (const lane of this.#byKey.get(endpointId)?.values() ?? []) this.#lanes.delete(lane.id);
    this.#byKey.delete(endpointId);
    // An endpoint of the same id may be added again: its lanes have a higher generation than those that go now.
    this.#generation += 1n;
    return removed;
  }

  /** Removes an empty lane. Its successor begins above its sequences, in a higher generation. */
  removeEmpty({ id, endpointId, tenant, source, key = "" }: LaneRow): void {
    this.#lanes.delete(id);
    this.#byKey.get(endpointId)?.delete(textOf({ tenant, source, key }));
    this.raiseGeneration();
  }

  /** Of lanes that are made from now on. */
  raiseGeneration(): void {
    this.#generation += 1n;
  }

  /** Of all lanes, those that are made from now on included. */
  raiseAll(leastGeneration: bigint): number {
    const next = this.#generation + 1n;
    this.#generation = next > leastGeneration ? next : leastGeneration;
    for (const lane of this.#lanes.values()) lane.generation = this.#generation;
    return this.#lanes.size;
  }

  /** A lane is kept for its place in the sequence; a loose delivery has none. */
  #forget(lane: LaneRow): void {
    this.#waiting.delete(lane);
    if (lane.kind === "loose") this.#loose.delete(lane.id);
  }

  #addLane(endpointId: string, name: LaneName, firstSequence: bigint): LaneRow {
    const id = (this.#lastId += 1n);
    const lane = emptyLane({
      kind: "lane",
      id,
      endpointId,
      ...name,
      generation: this.#generation,
      firstSequence,
    });
    this.#lanes.set(id, lane);
    return lane;
  }
}

function textOf({ tenant, source, key }: LaneName): string {
  return JSON.stringify([tenant, source, key]);
}
