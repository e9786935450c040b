import type * as fc from "fast-check";
import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import type { Claim } from "../../../library/src/lanes/lane-store.js";
import type { DeadBecause, DeadPolicy } from "../../../library/src/lanes/dead.js";
import type { EndpointState } from "../../../library/src/outbox/endpoint.js";
import { deliveryIn, ticksMs } from "../../../library/src/testing/conformance/outbox/steps.js";
import { append, dueIn, emptyLane, headSequence, isExpired, lapse, pass, runLength } from "./lane.js";
import type { ModelLane } from "./lane.js";
import type { Met, Row } from "./rows.js";

/** A delivery that the model knows to be dead, and how it died. */
export interface ModelDead {
  readonly deliveryId: string;
  readonly lane: ModelLane;
  readonly eventId: string;
  readonly round: number;
  readonly because: DeadBecause;
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  /** An operator has passed over it: it is listed no more, and can still be redriven. */
  skipped: boolean;
}

interface ModelEndpoint {
  state: EndpointState;
  version: number;
  /** Why it is disabled. */
  because: string | undefined;
  stoppedAt: number | undefined;
}

// Never a whole number of ticks: the model need not know what happens at the very edge.
export const LEASE_TICKS = 2.5;
export const WORKERS = ["worker_1", "worker_2"] as const;
export const QUIET = "quiet";

/** Each with its policy for the dead, and whether it wants what is published as `quiet`; their order is their id's. */
export const ENDPOINTS = {
  ep_key: { dead: undefined, quiet: true },
  ep_endpoint: { dead: "skip", quiet: false },
  ep_none: { dead: "park", quiet: true },
} as const satisfies Readonly<Record<string, { dead: DeadPolicy | undefined; quiet: boolean }>>;

export type EndpointName = keyof typeof ENDPOINTS;
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[];

export class Model {
  /** In ticks. */
  now = 0;
  published = 0;
  lanes: ModelLane[] = [];
  readonly endpoints = new Map<string, ModelEndpoint>();
  /** Every claim that was ever given, oldest first. */
  readonly claims: Claim[] = [];
  /** Dead letters that can be redriven. */
  dead: ModelDead[] = [];
  /** The attempts of every delivery that had one. */
  readonly history = new Map<string, string[]>();
  /** How long the lapsed attempts of each delivery lasted, in ticks. */
  readonly lapsed = new Map<string, number[]>();
  /** When events expire, by their ids; undefined = never. */
  readonly expiries = new Map<string, number | undefined>();
  /** Deliveries that have left their places: endpoint, event, round, state, reason and attempts. */
  readonly ended: string[] = [];
  readonly cancelled: string[] = [];
  readonly #met: Met;
  /** The command that is under way. */
  command = "";

  constructor(met: Met) {
    this.#met = met;
    for (const id of ENDPOINT_NAMES) this.addEndpoint(id);
  }

  /** Notes that a row of spec/states.md was met. */
  meets(row: Row): void {
    const by = this.#met.get(row) ?? new Set();
    this.#met.set(row, by.add(this.command.split("(")[0] ?? ""));
  }

  addEndpoint(id: EndpointName): void {
    this.endpoints.set(id, { state: "active", version: 1, because: undefined, stoppedAt: undefined });
  }

  /** Changes an endpoint's state; the time at which it stopped stays until it is active again. */
  setState(id: string, state: EndpointState, because: string | undefined): void {
    const endpoint = this.endpoints.get(id);
    if (endpoint === undefined) return;
    const stoppedAt = state === "active" ? undefined : (endpoint.stoppedAt ?? this.now);
    Object.assign(endpoint, { state, because, stoppedAt, version: endpoint.version + 1 });
  }

  isActive(id: string): boolean {
    return this.endpoints.get(id)?.state === "active";
  }

  note(deliveryId: string, attempt: string): void {
    this.history.set(deliveryId, [...(this.history.get(deliveryId) ?? []), attempt]);
  }

  publish(waiting: { readonly eventId: string; readonly expiresAt: number | undefined }, given: Given): void {
    this.expiries.set(waiting.eventId, waiting.expiresAt);
    const places = { ep_key: given.key, ep_endpoint: "ep_endpoint", ep_none: undefined };
    for (const id of ENDPOINT_NAMES) {
      if (!this.endpoints.has(id) || (given.type === QUIET && !ENDPOINTS[id].quiet)) continue;
      this.meets("– | the event is sequenced, and the endpoint matches it");
      append(this.#laneOf(id, places[id]), { ...waiting, round: 1 }, this.now);
    }
  }

  #laneOf(endpointId: string, key: string | undefined): ModelLane {
    const known = this.lanes.find((lane) => lane.endpointId === endpointId && lane.key === key);
    if (known !== undefined && key !== undefined) return known;
    const lane = emptyLane(endpointId, key);
    this.lanes.push(lane);
    return lane;
  }

  /** Dead letters that are listed and counted. */
  listed(): ModelDead[] {
    return this.dead.filter(({ skipped }) => !skipped);
  }

  due(): ModelLane[] {
    return this.lanes.filter((lane) => (dueIn(lane, this.now) ?? 1) <= 0 && this.isActive(lane.endpointId));
  }

  hasExpired(): boolean {
    return this.lanes.some((lane) => isExpired(lane, this.now));
  }

  /** Which lane a claim is of. */
  claimed({ consumer, lane, run }: Claim): ModelLane {
    const found = this.lanes.find(
      ({ endpointId, key, queue }) =>
        endpointId === consumer.id &&
        key === lane?.key &&
        (key !== undefined || queue[0]?.eventId === run[0].event.id),
    );
    if (found === undefined) throw new Error(`${run[0].event.id} was claimed where there is no such lane`);
    return found;
  }

  /** What whoever finds an ended lease makes of its lane, before anything else. */
  endLease(lane: ModelLane): void {
    const { lease } = lane;
    const [head] = lane.queue;
    if (lease === undefined || head === undefined || !lapse(lane, this.now)) return;
    const id = deliveryIn(lease.claim);
    this.note(id, `${head.round}.${lane.attempts} lapsed`);
    this.lapsed.set(id, [...(this.lapsed.get(id) ?? []), lease.until - lease.since]);
    this.meets("due | its lease ends without a settlement");
  }

  kill(lane: ModelLane, deliveryId: string, how: Death): void {
    const [head] = lane.queue;
    if (head === undefined) return;
    const { because, policy, lastStatus } = how;
    const { eventId, round } = head;
    const { attempts } = lane;
    this.dead.push({ deliveryId, lane, eventId, round, because, attempts, lastStatus, skipped: false });
    lane.blockedAt ??= this.now;
    if (policy === "skip" && lane.key !== undefined) return this.passDead(lane, because);
    lane.state = policy === "park" ? "parked" : "halted";
  }

  /** The lane goes on without its dead head, which stays dead in its place. */
  passDead(lane: ModelLane, because: DeadBecause | undefined): void {
    this.#end(lane, `dead ${because}`);
    pass(lane);
  }

  acknowledge(lane: ModelLane): void {
    this.meets("due | the endpoint acknowledges it (2xx)");
    lane.attempts += 1;
    this.#end(lane, "delivered undefined");
    pass(lane, true);
  }

  cancel(lane: ModelLane, because: keyof typeof CANCELLATIONS): void {
    this.meets(`due | ${CANCELLATIONS[because]}`);
    this.cancelled.push(`${lane.endpointId} ${lane.queue[0]?.eventId} ${because}`);
    this.#end(lane, `cancelled ${because}`);
    pass(lane);
  }

  removeEndpoint(id: string): void {
    this.endpoints.delete(id);
    for (const lane of this.lanes.filter(({ endpointId }) => endpointId === id)) this.#cancelAll(lane);
    this.lanes = this.lanes.filter(({ endpointId }) => endpointId !== id);
    this.dead = this.dead.filter(({ lane }) => lane.endpointId !== id);
  }

  #cancelAll(lane: ModelLane): void {
    const dead = this.dead.find((each) => each.lane === lane && isBlocking(each));
    if (dead !== undefined) {
      this.meets("dead | its endpoint is removed");
      this.passDead(lane, dead.because);
    }
    while (lane.queue.length > 0) {
      this.meets("due | its endpoint is removed");
      this.cancelled.push(`${lane.endpointId} ${lane.queue[0]?.eventId} endpoint_removed`);
      this.#end(lane, "cancelled endpoint_removed");
      pass(lane);
    }
  }

  #end(lane: ModelLane, how: string): void {
    const { eventId, round } = lane.queue[0] ?? {};
    this.ended.push(`${lane.endpointId} ${eventId} ${round} ${how} ${lane.attempts}`);
  }

  /** Checks a claim against its lane, and leases the lane. `run`: how many deliveries it holds. */
  take(claim: Claim, worker: string, run: { readonly least: number; readonly most: number }): void {
    const lane = this.claimed(claim);
    expect(claim.run.length).toBeGreaterThanOrEqual(run.least);
    expect(claim.run.length).toBeLessThanOrEqual(run.most);
    expect(claim.run.map(({ event, round }) => `${event.id} ${round}`)).toEqual(
      lane.queue.slice(0, claim.run.length).map(({ eventId, round }) => `${eventId} ${round}`),
    );
    lane.firstSequence ??= claim.run[0].sequence - BigInt(lane.left);
    const sequence = headSequence(lane) ?? 0n;
    expect(claim.run.map((each) => each.sequence)).toEqual(claim.run.map((_, n) => sequence + BigInt(n)));
    const { attempts, failures, after, endpointId } = lane;
    expect([claim.attempts, claim.failures, claim.after]).toEqual([attempts, failures, after]);
    const { id, version } = claim.consumer;
    expect([id, version]).toEqual([endpointId, this.endpoints.get(endpointId)?.version]);
    for (const each of this.claims) {
      if (each.kind === claim.kind && each.id === claim.id) expect(claim.epoch).toBeGreaterThan(each.epoch);
    }
    lane.id = claim.id;
    lane.lease = { claim, worker, since: this.now, until: this.now + LEASE_TICKS };
    this.claims.push(claim);
  }

  /** As much of the lane as a claim of up to so many holds. */
  exactly(lane: ModelLane, maxEvents: number): { readonly least: number; readonly most: number } {
    const length = runLength(lane, maxEvents);
    return { least: length, most: length };
  }
}

const CANCELLATIONS = {
  expired: "`expiresAt` has passed when a worker would send it",
  skipped: "an operator skips it",
  cancelled: "an operator cancels it, with all that waits before it in its lane",
} as const;

interface Given {
  readonly key: string | undefined;
  readonly type: string;
}

export interface Death {
  readonly because: DeadBecause;
  readonly policy: DeadPolicy;
  /** Of the attempt by which it died. */
  readonly lastStatus: number | undefined;
}

/** Whether a dead letter stands at the head of its lane. */
export function isBlocking({ lane, eventId, round }: ModelDead): boolean {
  const [head] = lane.queue;
  return lane.state !== "flowing" && head?.eventId === eventId && head.round === round;
}

/** Within a tenth of a tick: the case itself takes some time, and some stores' clocks run on. */
export function expectTicks(
  bench: OutboxBench,
  foundMs: number | undefined,
  ticks: number | undefined,
): void {
  if (ticks === undefined || foundMs === undefined) return expect(foundMs).toBe(ticks);
  expect(Math.abs(foundMs - ticksMs(bench, ticks))).toBeLessThan(ticksMs(bench, 0.1));
}

export type Command = fc.AsyncCommand<Model, OutboxBench>;

/** A command by what it does; each prints itself as it was called. */
export function command(
  text: string,
  run: (model: Model, bench: OutboxBench) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return { check, run, toString: () => text };
}
