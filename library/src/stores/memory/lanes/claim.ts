import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { Claim, ClaimAnswer, ClaimRequest, RunLimits } from "../../../lanes/lane-store.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import { claimOf } from "./lane.js";
import type { Lane, Lease } from "./lane.js";
import { cancelHead, killHead, runsAlone } from "../outbox/parts.js";
import type { OutboxParts } from "../outbox/parts.js";

/** Who takes a lane, for how long and how much of it. */
export interface Taker {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
}

/** What is due at one endpoint, longest waiting last, and how much of it this worker may have. */
interface Queue {
  readonly endpoint: Endpoint;
  readonly due: Lane[];
  room: number;
}

/** Leases what is due. */
export class Claims {
  readonly #parts: OutboxParts;
  /** The endpoint that was served last: the next claim begins after it. */
  #cursor = "";

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  claim(request: ClaimRequest): ClaimAnswer {
    const limit = request.alone ? Math.min(1, request.limit) : request.limit;
    const claims: Claim[] = [];
    const queues = this.#queues(request);
    // One of each endpoint in turn: the first one's backlog must not take every place.
    while (claims.length < limit && queues.some(({ room, due }) => room > 0 && due.length > 0)) {
      for (const queue of queues) {
        const claim = claims.length < limit ? this.#claimNext(queue, request) : undefined;
        if (claim !== undefined) claims.push(claim);
      }
    }
    return { claims, lapsed: !request.alone && this.#due().some(runsAlone) };
  }

  /** Leases a lane that nobody has. */
  take(lane: Lane, { worker, leaseMs, run: limits }: Taker, lastWasSettled = true): Claim {
    const { clock, endpoints } = this.#parts;
    const mayRun = lastWasSettled && lane.attempts === 0 && lane.head >= lane.suspectUntil;
    const run = lane.run(mayRun ? limits : { ...limits, maxEvents: 1 });
    const startedAt = new Date(clock.now());
    lane.take({ worker, leaseMs, startedAt, endsAt: clock.monotonic() + leaseMs, deliveries: run.length });
    const version = endpoints.get(lane.endpointId)?.version ?? 0;
    return claimOf(lane, run, { version, wallMs: clock.now() });
  }

  #due(): readonly Lane[] {
    const { clock, endpoints, lanes } = this.#parts;
    const now = clock.monotonic();
    const isDue = ({ readyAt, endpointId }: Lane): boolean =>
      readyAt !== undefined && readyAt <= now && endpoints.isActive(endpointId);
    return lanes.waiting().filter(isDue);
  }

  #queues({ inFlight }: ClaimRequest): readonly Queue[] {
    const due = this.#due()
      .toSorted((a, b) => (a.readyAt ?? 0) - (b.readyAt ?? 0))
      .toReversed();
    const sorted = this.#parts.endpoints.sorted();
    const next = sorted.findIndex(({ id }) => id > this.#cursor);
    const inTurn = next === -1 ? sorted : [...sorted.slice(next), ...sorted.slice(0, next)];
    return inTurn.map((endpoint) => ({
      endpoint,
      due: due.filter(({ endpointId }) => endpointId === endpoint.id),
      room: endpoint.maxInFlight - (inFlight.get(endpoint.id) ?? 0),
    }));
  }

  #claimNext(queue: Queue, request: ClaimRequest): Claim | undefined {
    const lane = queue.room > 0 ? queue.due.pop() : undefined;
    if (lane === undefined) return undefined;
    const { lease } = lane;
    if (lease !== undefined) this.#endLapsed(lane, lease);
    if (lane.readyAt === undefined || runsAlone(lane) !== request.alone) return undefined;
    queue.room -= 1;
    this.#cursor = queue.endpoint.id;
    return this.take(lane, request, lease === undefined);
  }

  /** Its process died or was too slow; nobody knows what came of it. */
  #endLapsed(lane: Lane, lease: Lease): void {
    const wasAlone = runsAlone(lane);
    if (lease.deliveries > 1) {
      // Which of them killed the process is not known: none is charged, and up to here each goes by itself.
      lane.suspectUntil = lane.head + BigInt(lease.deliveries);
    } else {
      this.#chargeLapse(lane, lease);
    }
    if (lane.skipIntended) cancelHead(this.#parts, lane, "skipped");
    else if (wasAlone)
      killHead(this.#parts, lane, { because: "lease_expired", policy: this.#policyOf(lane) });
    lane.rest(this.#parts.clock.monotonic());
  }

  // No failure: a crash must not spend the retry budget of an innocent event.
  #chargeLapse(lane: Lane, lease: Lease): void {
    lane.lapses += 1;
    lane.attempts += 1;
    lane.blockedAt ??= this.#parts.clock.monotonic();
    this.#parts.history.addAttempt(lane, lapsedAttempt(lane, lease));
  }

  #policyOf({ endpointId }: Lane): DeadPolicy {
    return this.#parts.endpoints.get(endpointId)?.dead ?? "halt";
  }
}

function lapsedAttempt({ headDelivery, attempts }: Lane, { startedAt, leaseMs }: Lease): AttemptRecord {
  const { sequence, round } = headDelivery;
  const nothing = { status: undefined, error: undefined, answer: undefined };
  return { sequence, round, number: attempts, startedAt, durationMs: leaseMs, outcome: "lapsed", ...nothing };
}
