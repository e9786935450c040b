import type { Claim, ClaimedDelivery, RunLimits } from "../../../lanes/lane-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";

/** An event as the memory outbox keeps it: with bytes of its own, never changed. */
export interface StoredEvent extends OutgoingEvent {
  readonly rowId: bigint;
}

/** One event in one lane, or in none. */
export interface Delivery {
  readonly event: StoredEvent;
  readonly sequence: bigint;
  readonly round: number;
}

/** Who has a lane, until when, and how many of its deliveries. */
export interface Lease {
  readonly worker: string;
  readonly leaseMs: number;
  /** By the wall clock, for history. */
  readonly startedAt: Date;
  /** By the monotonic clock, as every other time of a lane. */
  readonly endsAt: number;
  readonly deliveries: number;
}

/** Where a lane belongs. A delivery without a lane is kept as one that has no key and holds nothing else. */
export interface LaneName {
  readonly kind: Claim["kind"];
  readonly id: bigint;
  readonly endpointId: string;
  readonly key: string | undefined;
  readonly firstSequence: bigint;
}

// One for every lane: nothing recreates a lane here, and nothing is restored.
const GENERATION = 1n;

/** The deliveries of one lane in their order, and the one state that they share. */
export class Lane {
  readonly kind: Claim["kind"];
  readonly id: bigint;
  readonly endpointId: string;
  readonly key: string | undefined;
  /** The sequence at the head, and the first that is free; equal where the lane is empty. */
  head: bigint;
  end: bigint;
  /** The last sequence before the head that was not skipped. */
  after: bigint | undefined;
  state: "flowing" | "halted" | "parked" = "flowing";
  /** When it may be claimed; the lease's end while there is one. */
  readyAt: number | undefined;
  lease: Lease | undefined;
  epoch = 0n;
  attempts = 0;
  failures = 0;
  lapses = 0;
  /** A run up to here has lapsed: one of its deliveries may be what killed the process. */
  suspectUntil = 0n;
  skipIntended = false;
  /** When its head first failed. */
  blockedAt: number | undefined;
  readonly #deliveries = new Map<bigint, Delivery>();

  constructor({ kind, id, endpointId, key, firstSequence }: LaneName) {
    this.kind = kind;
    this.id = id;
    this.endpointId = endpointId;
    this.key = key;
    this.head = firstSequence;
    this.end = firstSequence;
  }

  get isEmpty(): boolean {
    return this.head === this.end;
  }

  get headDelivery(): Delivery {
    const delivery = this.#deliveries.get(this.head);
    if (delivery === undefined) throw new Error(`Lane ${this.id} has no delivery ${this.head} at its head.`);
    return delivery;
  }

  /** Undefined where it has left the lane. */
  at(sequence: bigint): Delivery | undefined {
    return this.#deliveries.get(sequence);
  }

  *[Symbol.iterator](): Iterator<Delivery> {
    yield* this.#deliveries.values();
  }

  append(event: StoredEvent, round: number, now: number): void {
    const waits = !this.isEmpty;
    this.#deliveries.set(this.end, { event, sequence: this.end, round });
    this.end += 1n;
    // A halted lane is not empty: what comes later waits behind its dead head.
    if (!waits) this.readyAt = now;
  }

  /** As many from the head on as the limits allow, the head always. */
  run({ maxEvents, maxBytes }: RunLimits): readonly [Delivery, ...Delivery[]] {
    const head = this.headDelivery;
    const run: [Delivery, ...Delivery[]] = [head];
    let bytes = head.event.body.length;
    for (const delivery of this.#deliveries.values()) {
      if (delivery === head) continue;
      bytes += delivery.event.body.length;
      if (run.length >= maxEvents || bytes > maxBytes) break;
      run.push(delivery);
    }
    return run;
  }

  take(lease: Lease): void {
    this.epoch += 1n;
    this.lease = lease;
    this.readyAt = lease.endsAt;
  }

  /** Ends the lease: the head is due at this time, unless the lane stands still. */
  rest(readyAt: number): void {
    this.lease = undefined;
    this.readyAt = this.state === "flowing" && !this.isEmpty ? readyAt : undefined;
  }

  acknowledgeHead(): void {
    this.after = this.head;
    this.passHead();
  }

  /** The next one becomes the head, with nothing of what the last one went through. */
  passHead(): void {
    this.#deliveries.delete(this.head);
    this.head += 1n;
    this.state = "flowing";
    this.#startAgain();
  }

  /** The dead head is due again, in its place. */
  reviveHead(now: number): void {
    const dead = this.headDelivery;
    this.#deliveries.set(this.head, { ...dead, round: dead.round + 1 });
    this.state = "flowing";
    this.#startAgain();
    this.rest(now);
  }

  #startAgain(): void {
    this.attempts = 0;
    this.failures = 0;
    this.lapses = 0;
    this.skipIntended = false;
    this.blockedAt = undefined;
  }
}

/** What a worker gets of a lane that it has just taken. */
export function claimOf(
  lane: Lane,
  run: readonly [Delivery, ...Delivery[]],
  { version, wallMs }: { readonly version: number; readonly wallMs: number },
): Claim {
  const [head, ...others] = run;
  const { kind, id, epoch, endpointId, key, after, attempts, failures } = lane;
  return {
    kind,
    id,
    epoch,
    consumer: { id: endpointId, version },
    lane: key === undefined ? undefined : { generation: GENERATION, key },
    after,
    run: [claimedOf(head, wallMs), ...others.map((each) => claimedOf(each, wallMs))],
    attempts,
    failures,
  };
}

function claimedOf({ sequence, round, event }: Delivery, wallMs: number): ClaimedDelivery {
  const { id, type, body, contentType, time, headers, expiresAt } = event;
  return {
    sequence,
    round,
    event: {
      id,
      type,
      body: body.slice(),
      contentType,
      time: new Date(time),
      headers: headers && { ...headers },
    },
    expiresInMs: expiresAt === undefined ? undefined : expiresAt.getTime() - wallMs,
  };
}
