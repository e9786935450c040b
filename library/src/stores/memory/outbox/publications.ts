import type { OutboxErrorCode } from "../../../outbox/outbox-errors.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { MemoryTx } from "../client/transaction.js";
import { UNCLAIMED } from "../../../outbox/fan-out.js";
import type { Addressed } from "../../../outbox/fan-out.js";
import { isStored } from "../../../outbox/outgoing-event.js";
import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import { Holds } from "../lanes/hold.js";
import { placeEvent } from "../lanes/places.js";
import type { MemoryParts } from "../parts.js";
import type { StoredEvent } from "./event-log.js";
import { GivenIds } from "./given-ids.js";

/** Takes events in, and gives them their places: when they commit, or when they are due. */
export class Publications {
  readonly #parts: MemoryParts;
  readonly #ids = new GivenIds();
  /** The ids that open transactions have written: nobody else may know them before the commit. */
  readonly #idsOf = new WeakMap<MemoryTx, GivenIds>();
  readonly #observer: Observer | undefined;
  readonly #holds: Holds;
  #later: StoredEvent[] = [];
  /** Stored for handlers, of which none is registered for them. */
  #unclaimed: StoredEvent[] = [];
  #nextRowId: bigint;

  constructor(parts: MemoryParts, firstEvent: bigint, observer?: Observer) {
    this.#parts = parts;
    this.#observer = observer;
    this.#nextRowId = firstEvent;
    const { clock, events } = parts;
    this.#holds = new Holds({
      clock,
      events,
      place: (event) => this.#placeAt(event),
      tell: (signal) => notify(observer, signal),
    });
  }

  write(events: readonly OutgoingEvent[], tx: MemoryTx): readonly Written[] {
    const ids = this.#idsOf.get(tx) ?? new GivenIds(this.#ids);
    const { verdicts, fresh } = judge(events, ids);
    if (verdicts.includes("conflict")) return verdicts;
    // Copied now: the caller may use its buffers again before it commits.
    const copies = fresh.map(copyOf);
    tx.onCommit(() => this.#commit(copies));
    this.#idsOf.set(tx, ids);
    return verdicts;
  }

  append(events: readonly OutgoingEvent[]): readonly Written[] {
    const { verdicts, fresh } = judge(events, this.#ids);
    if (!verdicts.includes("conflict")) this.#place(fresh.map(copyOf));
    return verdicts;
  }

  /** Stores an event that came from elsewhere, under an id of our own. */
  store(event: OutgoingEvent): void {
    this.#place([copyOf(event)]);
  }

  /** Whether the event waits for its `deliverAt`, or for its turn. */
  isWaiting(event: StoredEvent): boolean {
    return this.#later.includes(event) || this.#holds.has(event);
  }

  /** Events that are held until their turn comes. */
  get holds(): Pick<Holds, "fill" | "untilNextMs" | "forget" | "held" | "release" | "count"> {
    return this.#holds;
  }

  /** Ids that publishers gave. */
  get ids(): GivenIds {
    return this.#ids;
  }

  /** How many events wait for their `deliverAt`, or for their turn. */
  get waiting(): number {
    return this.#later.length + this.#holds.count;
  }

  /** How many events wait for a handler to be registered for their source. */
  get unclaimed(): number {
    return this.#unclaimed.length;
  }

  /** Gives places to waiting events that are due or were held for long enough, and says to how many. */
  placeDue(): number {
    const nowMs = this.#parts.clock.now();
    const due = this.#later.filter((event) => waitMsOf(event, nowMs) <= 0);
    this.#later = this.#later.filter((event) => waitMsOf(event, nowMs) > 0);
    // In the order in which they became due; events of one instant in the order of publishing.
    for (const event of due.toSorted(byDeliverAt)) this.#fanOut(event);
    return due.length + this.#holds.freeDue();
  }

  /** Gives places to events that were set aside and that a handler matches by now. */
  placeUnclaimed(): void {
    const waiting = this.#unclaimed;
    const isUnclaimed = (event: StoredEvent): boolean => this.#parts.endpoints.isUnclaimed(addressOf(event));
    // The others are told of no second time.
    this.#unclaimed = waiting.filter(isUnclaimed);
    for (const event of waiting.filter((each) => !isUnclaimed(each))) this.#fanOut(event);
  }

  /** Milliseconds until the first waiting event is due, by the wall clock: `deliverAt` is an instant. */
  untilNextMs(): number | undefined {
    const nowMs = this.#parts.clock.now();
    const waits = this.#later.map((event) => waitMsOf(event, nowMs));
    return waits.length === 0 ? undefined : waits.reduce((one, other) => Math.min(one, other));
  }

  // Another transaction may have committed the same id since `write` looked.
  #commit(events: readonly OutgoingEvent[]): void {
    const { verdicts, fresh } = judge(events, this.#ids);
    const conflict = events[verdicts.indexOf("conflict")];
    if (conflict === undefined) return this.#place(fresh);
    throw new PosthornError<OutboxErrorCode>(
      "id_conflict",
      `Another transaction committed the id ${conflict.id} with another body while this one was open; none of its events was written.`,
    );
  }

  #place(events: readonly OutgoingEvent[]): void {
    // Waiting events that are due were published before these: they get their places first.
    this.placeDue();
    const nowMs = this.#parts.clock.now();
    for (const event of events) {
      const stored = { ...event, rowId: this.#nextRowId, writtenAt: new Date(nowMs) };
      this.#nextRowId += 1n;
      this.#parts.events.add(stored);
      if (waitMsOf(stored, nowMs) > 0) this.#later.push(stored);
      else this.#fanOut(stored);
    }
  }

  #fanOut(event: StoredEvent): void {
    const { endpoints } = this.#parts;
    const addressed = addressOf(event);
    if (endpoints.isUnclaimed(addressed)) {
      this.#unclaimed.push(event);
      notify(this.#observer, { kind: "sequence_failed", id: event.id, message: UNCLAIMED });
      return;
    }
    if (!this.#holds.take(event)) this.#placeAt(event);
  }

  #placeAt(event: StoredEvent): void {
    const places = this.#parts.endpoints.placesOf(addressOf(event));
    for (const place of places) placeEvent(this.#parts, event, { ...place, round: 1 });
  }
}

export function addressOf(event: StoredEvent): Addressed {
  const { tenant, source, type, key } = event;
  return { tenant, source, type, key, isStored: isStored(event) };
}

/** What becomes of each event, and which are new. The ids of new ones are kept, unless there is a conflict. */
function judge(
  events: readonly OutgoingEvent[],
  known: GivenIds,
): { readonly verdicts: readonly Written[]; readonly fresh: readonly OutgoingEvent[] } {
  const ids = new GivenIds(known);
  const verdicts = events.map((event) => ids.add(event));
  if (!verdicts.includes("conflict")) ids.keep();
  return { verdicts, fresh: events.filter((_, index) => verdicts[index] === "written") };
}

function copyOf(event: OutgoingEvent): OutgoingEvent {
  const { body, contentHash, headers } = event;
  return {
    ...event,
    body: body.slice(),
    contentHash: contentHash?.slice(),
    headers: headers && { ...headers },
  };
}

function waitMsOf({ deliverAt }: OutgoingEvent, nowMs: number): number {
  return deliverAt === undefined ? 0 : deliverAt.getTime() - nowMs;
}

function byDeliverAt(one: StoredEvent, other: StoredEvent): number {
  return waitMsOf(one, 0) - waitMsOf(other, 0) || Number(one.rowId - other.rowId);
}
