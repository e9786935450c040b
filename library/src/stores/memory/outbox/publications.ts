import type { OutboxErrorCode } from "../../../outbox/outbox-errors.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { MemoryTx } from "../client/transaction.js";
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
  #later: StoredEvent[] = [];
  #nextRowId: bigint;

  constructor(parts: MemoryParts, firstEvent: bigint) {
    this.#parts = parts;
    this.#nextRowId = firstEvent;
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

  /** Whether the event waits for its `deliverAt`. */
  isLater(event: StoredEvent): boolean {
    return this.#later.includes(event);
  }

  /** Ids that publishers gave. */
  get ids(): GivenIds {
    return this.#ids;
  }

  /** How many events wait for their `deliverAt`. */
  get waiting(): number {
    return this.#later.length;
  }

  /** Gives places to waiting events that are due, and says to how many. */
  placeDue(): number {
    const nowMs = this.#parts.clock.now();
    const due = this.#later.filter((event) => waitMsOf(event, nowMs) <= 0);
    this.#later = this.#later.filter((event) => waitMsOf(event, nowMs) > 0);
    // In the order in which they became due; events of one instant in the order of publishing.
    for (const event of due.toSorted(byDeliverAt)) this.#fanOut(event);
    return due.length;
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
    for (const place of this.#parts.endpoints.placesOf(event))
      placeEvent(this.#parts, event, { ...place, round: 1 });
  }
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
