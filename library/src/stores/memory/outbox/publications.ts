import type { OutboxErrorCode } from "../../../outbox/outbox-errors.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { PosthornError } from "../../../posthorn-error.js";
import { GivenIds } from "./ids.js";
import type { StoredEvent } from "../lanes/lane.js";
import type { OutboxParts } from "./parts.js";
import type { MemoryTx } from "../client/transaction.js";

/** Takes events in, and gives them their places: at once when they commit, or when they are due. */
export class Publications {
  readonly #parts: OutboxParts;
  readonly #ids = new GivenIds();
  /** What open transactions have given, and nobody else knows of yet. */
  readonly #idsOf = new WeakMap<MemoryTx, GivenIds>();
  #later: StoredEvent[] = [];
  #nextRowId: bigint;

  constructor(parts: OutboxParts, firstEvent: bigint) {
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

  /** Stores an event, whose id is its own. */
  store(event: OutgoingEvent): void {
    this.#place([copyOf(event)]);
  }

  /** How many wait for their time. */
  get waiting(): number {
    return this.#later.length;
  }

  /** Gives those their places that had to wait and are due, and says how many. */
  placeDue(): number {
    const nowMs = this.#parts.clock.now();
    const due = this.#later.filter((event) => waitMsOf(event, nowMs) <= 0);
    this.#later = this.#later.filter((event) => waitMsOf(event, nowMs) > 0);
    // In the order in which they became due, and were published where that was at one time.
    for (const event of due.toSorted(byDeliverAt)) this.#fanOut(event);
    return due.length;
  }

  /** Until the first one that waits is due, by the wall clock, by which its time was given. */
  untilNextMs(): number | undefined {
    const nowMs = this.#parts.clock.now();
    const waits = this.#later.map((event) => waitMsOf(event, nowMs));
    return waits.length === 0 ? undefined : waits.reduce((one, other) => Math.min(one, other));
  }

  // Another transaction may have committed the same id since this one looked.
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
    // Those that are due were published before: they come first.
    this.placeDue();
    const nowMs = this.#parts.clock.now();
    for (const event of events) {
      const stored = { ...event, rowId: this.#nextRowId };
      this.#nextRowId += 1n;
      this.#parts.events.add(stored);
      if (waitMsOf(stored, nowMs) > 0) this.#later.push(stored);
      else this.#fanOut(stored);
    }
  }

  #fanOut(event: StoredEvent): void {
    const { clock, endpoints, lanes } = this.#parts;
    const now = clock.monotonic();
    for (const place of endpoints.placesOf(event)) lanes.append(event, place, { round: 1, now });
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
