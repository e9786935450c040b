import type * as fc from "fast-check";
import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import type { Claim } from "../../../library/src/lanes/lane-store.js";
import type { DeadPolicy } from "../../../library/src/lanes/dead.js";
import { append, emptyLane, headSequence, isDue, isExpired, pass, runLength } from "./lane.js";
import type { ModelLane } from "./lane.js";

/** A delivery that the model knows to be dead. */
export interface ModelDead {
  readonly deliveryId: string;
  readonly lane: ModelLane;
  readonly eventId: string;
  readonly round: number;
}

// Never a whole number of ticks: the model need not know what happens at the very edge.
export const LEASE_TICKS = 2.5;
export const WORKERS = ["worker_1", "worker_2"] as const;
/** Each with its policy for the dead; their order is their id's. */
export const ENDPOINTS: Readonly<Record<string, DeadPolicy>> = {
  ep_key: "halt",
  ep_endpoint: "skip",
  ep_none: "park",
};

export class Model {
  /** In ticks. */
  now = 0;
  published = 0;
  readonly lanes: ModelLane[] = [];
  readonly paused = new Set<string>();
  /** Of the endpoints that were changed; others have 1. */
  readonly versions = new Map<string, number>();
  /** Every claim that was ever given, oldest first. */
  readonly claims: Claim[] = [];
  dead: ModelDead[] = [];
  readonly history = new Map<string, string[]>();

  note(deliveryId: string, attempt: string): void {
    this.history.set(deliveryId, [...(this.history.get(deliveryId) ?? []), attempt]);
  }

  laneOf(endpointId: string, key: string | undefined): ModelLane {
    const known = this.lanes.find((lane) => lane.endpointId === endpointId && lane.key === key);
    if (known !== undefined && key !== undefined) return known;
    const lane = emptyLane(endpointId, key);
    this.lanes.push(lane);
    return lane;
  }

  publish(eventId: string, key: string | undefined): void {
    const places = { ep_key: key, ep_endpoint: "ep_endpoint", ep_none: undefined };
    for (const [endpointId, laneKey] of Object.entries(places)) {
      append(this.laneOf(endpointId, laneKey), { eventId, round: 1 }, this.now);
    }
  }

  due(): ModelLane[] {
    return this.lanes.filter((lane) => isDue(lane, this.now) && !this.paused.has(lane.endpointId));
  }

  hasExpired(): boolean {
    return this.lanes.some((lane) => isExpired(lane, this.now));
  }

  /** Which lane a claim is of. */
  claimed({ consumer: endpoint, lane, run }: Claim): ModelLane {
    const found = this.lanes.find(
      ({ endpointId, key, queue }) =>
        endpointId === endpoint.id &&
        key === lane?.key &&
        (key !== undefined || queue[0]?.eventId === run[0].event.id),
    );
    if (found === undefined) throw new Error(`${run[0].event.id} was claimed where there is no such lane`);
    return found;
  }

  kill(lane: ModelLane, deliveryId: string, policy: DeadPolicy): void {
    const [head] = lane.queue;
    if (head === undefined) return;
    this.dead.push({ deliveryId, lane, ...head });
    if (policy === "skip" && lane.key !== undefined) return pass(lane);
    lane.state = policy === "park" ? "parked" : "halted";
  }

  /** Checks a claim against its lane, and leases the lane. */
  take(claim: Claim, worker: string, maxEvents: number): void {
    const lane = this.claimed(claim);
    const { most, exact } = runLength(lane, maxEvents);
    if (exact) expect(claim.run).toHaveLength(most);
    else expect(claim.run.length).toBeLessThanOrEqual(most);
    expect(claim.run.map(({ event, round }) => `${event.id} ${round}`)).toEqual(
      lane.queue.slice(0, claim.run.length).map(({ eventId, round }) => `${eventId} ${round}`),
    );
    lane.firstSequence ??= claim.run[0].sequence - BigInt(lane.left);
    const sequence = headSequence(lane);
    expect(claim.run.map((each) => each.sequence)).toEqual(
      claim.run.map((_, n) => (sequence ?? 0n) + BigInt(n)),
    );
    const { attempts, failures, after } = lane;
    expect([claim.attempts, claim.failures, claim.after]).toEqual([attempts, failures, after]);
    for (const each of this.claims) {
      if (each.kind === claim.kind && each.id === claim.id) expect(claim.epoch).toBeGreaterThan(each.epoch);
    }
    lane.id = claim.id;
    lane.lease = { claim, worker, until: this.now + LEASE_TICKS };
    this.claims.push(claim);
  }
}

export function isBlocking({ lane, eventId, round }: ModelDead): boolean {
  const [head] = lane.queue;
  return lane.state !== "flowing" && head?.eventId === eventId && head.round === round;
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
