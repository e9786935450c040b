import { deliveryIdOf } from "../../library/src/lanes/delivery-id.js";
import type { ClaimedDelivery } from "../../library/src/lanes/lane-store.js";
import type { LaneView } from "./lane-view.js";
import type { Report } from "./violation.js";
import { numberOf, textOf } from "../world/wire-event.js";

export type End = "delivered" | "dead" | "cancelled";

/** A delivery that was seen, by the name under which its attempts are listed. */
export interface SeenDelivery {
  readonly database: number;
  readonly delivery: string;
  readonly endpoint: string;
  readonly number: number;
  readonly isDelivered: boolean;
}

interface Seen {
  readonly view: LaneView;
  readonly sequence: bigint;
  readonly round: number;
  readonly event: ClaimedDelivery["event"];
}

/** Where the events of a run were seen to stand, and how each of them ended at each endpoint (I6, I11). */
export class Places {
  readonly #report: Report;
  readonly #numbers = new Map<string, number>();
  /** By endpoint and event: the places that it was seen in, and how many it may have. */
  readonly #places = new Map<string, { readonly seen: Map<string, number>; allowed: number }>();
  readonly #ends = new Map<string, Set<End>>();
  readonly #first = new Map<string, { readonly lane: string; readonly sequence: bigint }>();
  readonly #seen = new Map<string, { readonly view: LaneView; readonly sequence: bigint }>();
  readonly #deliveries = new Map<string, number>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** The number of an event, by its id; -1 where it was never seen. */
  numberOfId(id: string): number {
    return this.#numbers.get(id) ?? -1;
  }

  name(names: ReadonlyMap<string, number>): void {
    for (const [id, number] of names) this.#numbers.set(id, number);
  }

  /** Notes an event in its place, and returns its number. */
  see({ view, sequence, round, event }: Seen): number {
    const number = this.#numberOf(event);
    const where = `${view.name} ${sequence}`;
    const known = this.#deliveries.get(where);
    if (known !== undefined && known !== number)
      this.#report("I7", `${where} held event ${known}, and holds ${number} now`);
    this.#deliveries.set(where, number);
    const name = `${view.endpoint} ${number}`;
    const places = this.#places.get(name) ?? { seen: new Map<string, number>(), allowed: 1 };
    this.#places.set(name, places);
    if (!places.seen.has(where)) {
      this.#seen.set(where, { view, sequence });
      if (!this.#first.has(name)) this.#first.set(name, { lane: view.name, sequence });
      const rounds = [...places.seen.values()];
      const expected = rounds.length === 0 ? 1 : Math.max(...rounds) + 1;
      if (places.seen.size >= places.allowed) {
        this.#report("I6", `event ${number} has a second place at ${view.endpoint}: ${where}`);
      } else if (round !== expected && rounds.length > 0) {
        this.#report(
          "I11",
          `event ${number} came again to ${view.endpoint} in round ${round}; expected ${expected}`,
        );
      }
    }
    places.seen.set(where, Math.max(round, places.seen.get(where) ?? 0));
    return number;
  }

  /** An operator has put the dead delivery of this place at the end of its lane. */
  mayComeAgain(view: LaneView, sequence: bigint): void {
    const number = this.#deliveries.get(`${view.name} ${sequence}`);
    const places = this.#places.get(`${view.endpoint} ${number ?? -1}`);
    if (places !== undefined) places.allowed += 1;
  }

  end(endpoint: string, event: Pick<ClaimedDelivery["event"], "id">, how: End): void {
    this.endOf(endpoint, this.numberOfId(event.id), how);
  }

  endOf(endpoint: string, number: number, how: End): void {
    const name = `${endpoint} ${number}`;
    const ends = this.#ends.get(name) ?? new Set();
    if (ends.size > 0) {
      this.#report(
        "I6",
        `event ${number} ended twice at ${endpoint}: ${[...ends].join(" and ")}, then ${how}`,
      );
    }
    ends.add(how);
    this.#ends.set(name, ends);
  }

  hasEnded(endpoint: string, number: number): boolean {
    return this.#ends.has(`${endpoint} ${number}`);
  }

  wasSeen(endpoint: string, number: number): boolean {
    return this.#places.has(`${endpoint} ${number}`);
  }

  /** Where an event was seen first at an endpoint. */
  firstOf(
    endpoint: string,
    number: number,
  ): { readonly lane: string; readonly sequence: bigint } | undefined {
    return this.#first.get(`${endpoint} ${number}`);
  }

  *deliveries(): Iterable<SeenDelivery> {
    for (const { view, sequence } of this.#seen.values()) {
      const { kind, id, database } = view;
      const delivery = deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
      const number = this.#deliveries.get(`${view.name} ${sequence}`) ?? -1;
      const isDelivered = view.acknowledged.has(sequence);
      yield { database, delivery, endpoint: view.endpoint, number, isDelivered };
    }
  }

  #numberOf({ id, body }: ClaimedDelivery["event"]): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const number = numberOf(textOf(body));
    this.#numbers.set(id, number);
    return number;
  }
}
