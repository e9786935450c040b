import { expect } from "vitest";
import {
  addEndpoint,
  outboxOf,
  passTicks,
  sequenceAll,
  ticksMs,
} from "../../../library/src/testing/conformance/outbox/steps.js";
import type { LaneCancelled } from "../../../library/src/operator/dead-store.js";
import type { RetryTarget } from "../../../library/src/operator/operator-store.js";
import type { OutboxBench } from "posthorn/testing";
import { append, headSequence, isExpired, revive } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { command, ENDPOINTS, isBlocking, LEASE_TICKS, WORKERS } from "./model.js";
import type { Command, EndpointName, Model } from "./model.js";

export function passing(ticks: number): Command {
  return command(`pass(${ticks})`, async (model, bench) => {
    await passTicks(bench, ticks);
    model.now += ticks;
  });
}

/** Adds one of the endpoints, as its name says. */
export async function addNamed(bench: OutboxBench, id: EndpointName): Promise<void> {
  const { dead, quiet } = ENDPOINTS[id];
  const order = id.slice("ep_".length) as "key" | "endpoint" | "none";
  await addEndpoint(bench, { id, dead, order, types: quiet ? ["*"] : ["order.*"] });
}

export function pausing(id: EndpointName, pause: boolean): Command {
  const state = pause ? "paused" : "active";
  return command(
    `${pause ? "pause" : "resume"}(${id})`,
    async (model, bench) => {
      const { version = 0, state: before } = model.endpoints.get(id) ?? {};
      if (pause && before !== "paused") model.meets("active, disabled | an operator pauses it");
      if (!pause && before !== "active") model.meets("paused, disabled | an operator resumes it");
      const changed = await outboxOf(bench).changeEndpoint(id, { state, because: undefined });
      expect([changed?.state, changed?.version]).toEqual([state, version + 1]);
      model.setState(id, state, undefined);
    },
    (model) => model.endpoints.has(id),
  );
}

export function removing(id: EndpointName): Command {
  return command(
    `remove(${id})`,
    async (model, bench) => {
      model.meets("active, paused, disabled | an operator removes it");
      expect(await outboxOf(bench).removeEndpoint(id)).toBe(true);
      await sequenceAll(bench);
      model.removeEndpoint(id);
    },
    (model) => model.endpoints.has(id),
  );
}

export function adding(id: EndpointName): Command {
  return command(
    `add(${id})`,
    async (model, bench) => {
      await addNamed(bench, id);
      model.addEndpoint(id);
    },
    (model) => !model.endpoints.has(id),
  );
}

/** A worker keeps one of the latest claims, or finds that it has lost it. */
export function extending(worker: string, back: number): Command {
  return command(
    `extend(${worker}, ${back})`,
    async (model, bench) => {
      const claim = model.claims.at(-1 - (back % model.claims.length));
      if (claim === undefined) return;
      const lease = model.lanes.find((lane) => lane.lease?.claim === claim)?.lease;
      const outbox = outboxOf(bench, WORKERS.indexOf(worker as never));
      const isHeld = lease?.worker === worker;
      expect(await outbox.extend(worker, [claim], ticksMs(bench, LEASE_TICKS))).toEqual([isHeld]);
      if (isHeld) lease.until = model.now + LEASE_TICKS;
    },
    (model) => model.claims.length > 0,
  );
}

/** A worker gives back what it has leased; `keep`: all but every second lane. */
export function releasing(worker: string, keep: boolean): Command {
  return command(`release(${worker}, ${keep})`, async (model, bench) => {
    const leased = model.lanes.filter(({ lease }) => lease?.worker === worker);
    const given = keep ? leased.filter((_, n) => n % 2 === 0) : leased;
    const held = leased.filter((lane) => !given.includes(lane)).flatMap(({ lease }) => lease?.claim ?? []);
    const outbox = outboxOf(bench, WORKERS.indexOf(worker as never));
    expect(await outbox.release(worker, held)).toBe(given.length);
    for (const lane of given) {
      lane.lease = undefined;
      lane.readyAt = model.now;
      if (lane.skipIntended) model.cancel(lane, "skipped");
    }
  });
}

/** One of the lanes whose id somebody has seen. */
function laneAt({ lanes }: Readonly<Model>, at: number): ModelLane | undefined {
  const known = lanes.filter(({ id, key }) => id !== undefined && key !== undefined);
  return known[at % Math.max(1, known.length)];
}

/** `by`: how far from the head is what the operator means. */
export function skipping(at: number, by: number): Command {
  return command(
    `skip(${at}, ${by})`,
    async (model, bench) => {
      const lane = laneAt(model, at);
      if (lane?.id === undefined) return;
      const found = await outboxOf(bench).skip(lane.id, (headSequence(lane) ?? 0n) + BigInt(by));
      if (lane.queue.length === 0 || by !== 0) return expect(found).toBe("unknown");
      expect(found).toBe(skip(model, lane));
    },
    (model) => laneAt(model, at) !== undefined,
  );
}

/** What a skip of the head makes of a lane, and what the operator is told. */
function skip(model: Model, lane: ModelLane): "skipped" | "intended" {
  if (lane.lease !== undefined && !isExpired(lane, model.now)) {
    model.meets("is leased");
    lane.skipIntended = true;
    return "intended";
  }
  lane.readyAt = model.now;
  const dead = model.dead.find((each) => each.lane === lane && isBlocking(each));
  if (dead !== undefined) {
    model.meets("is dead");
    model.meets("dead | it is the head of its lane, and an operator skips it");
    dead.skipped = true;
    model.passDead(lane, dead.because);
    return "skipped";
  }
  model.meets(lane.lease === undefined ? "waits, due now or later" : "was leased, and the lease has ended");
  if (lane.lease !== undefined) model.endLease(lane);
  model.cancel(lane, "skipped");
  return "skipped";
}

/** `by`: how far behind the head is the last that the operator means. */
export function cancelling(at: number, by: number): Command {
  return command(
    `cancel(${at}, ${by})`,
    async (model, bench) => {
      const lane = laneAt(model, at);
      if (lane?.id === undefined) return;
      const found = await outboxOf(bench).cancel(lane.id, (headSequence(lane) ?? 0n) + BigInt(by));
      if (lane.queue.length === 0 || by < 0) return expect(found).toEqual({ kind: "unknown" });
      expect(found).toEqual(cancel(model, lane, by + 1));
    },
    (model) => laneAt(model, at) !== undefined,
  );
}

/** What the cancellation of so many deliveries makes of a lane, and what the operator is told. */
function cancel(model: Model, lane: ModelLane, most: number): LaneCancelled {
  if (lane.lease !== undefined && !isExpired(lane, model.now)) {
    lane.skipIntended = true;
    return { kind: "intended" };
  }
  const count = Math.min(most, lane.queue.length);
  const dead = model.dead.find((each) => each.lane === lane && isBlocking(each));
  if (lane.lease !== undefined) model.endLease(lane);
  lane.readyAt = model.now;
  if (dead !== undefined) {
    model.meets("dead | it is the head of its lane, and an operator cancels what waits in the lane");
    model.passDead(lane, dead.because);
    model.dead = model.dead.filter((each) => each !== dead);
  }
  for (let n = dead === undefined ? 0 : 1; n < count; n++) model.cancel(lane, "cancelled");
  return { kind: "cancelled", count };
}

/** What an operator wants tried now; `behind`: the delivery after a head. */
export type Retrying = "endpoint" | "lane" | "delivery" | "behind";

export function retrying(at: number, what: Retrying): Command {
  return command(
    `retry(${at}, ${what})`,
    async (model, bench) => {
      const known = model.lanes.filter(({ id }) => id !== undefined);
      const lane = known[at % known.length];
      if (lane === undefined) return;
      const meant = what === "endpoint" ? ofEndpoint(model, lane) : what === "behind" ? [] : [lane];
      const waiting = meant.filter((each) => waitsForNextAttempt(each, model.now));
      expect(await outboxOf(bench).retry(targetOf(lane, what))).toBe(waiting.length);
      for (const each of waiting) {
        model.meets(
          "due, later | an operator retries it, its lane or its endpoint, and it has failed and nobody has it",
        );
        each.readyAt = model.now;
      }
    },
    (model) => model.lanes.some(({ id }) => id !== undefined),
  );
}

function ofEndpoint({ lanes }: Model, { endpointId }: ModelLane): readonly ModelLane[] {
  return lanes.filter((each) => each.endpointId === endpointId);
}

function waitsForNextAttempt({ queue, state, attempts, lease, readyAt }: ModelLane, now: number): boolean {
  const hasFailed = queue.length > 0 && state === "flowing" && attempts > 0;
  return hasFailed && lease === undefined && readyAt > now;
}

function targetOf(lane: ModelLane, what: Retrying): RetryTarget {
  const { id = 0n, key, endpointId } = lane;
  if (what === "endpoint") return { endpointId };
  if (key === undefined) return { deliveryId: what === "behind" ? "dlv_0" : `dlv_${id}` };
  if (what === "lane") return { laneId: id };
  return { deliveryId: `dlv_${id}_${(headSequence(lane) ?? 0n) + (what === "behind" ? 1n : 0n)}` };
}

export function redriving(at: number): Command {
  return command(
    `redrive(${at})`,
    async (model, bench) => {
      const dead = model.dead[at % model.dead.length];
      if (dead === undefined) return;
      const { lane, deliveryId, eventId, round } = dead;
      const inPlace = isBlocking(dead);
      const found = await outboxOf(bench).redrive(deliveryId);
      expect(found).toBe(inPlace && lane.key !== undefined ? "in_place" : "at_end");
      expect(await outboxOf(bench, 1).redrive(deliveryId)).toBe("unknown");
      await sequenceAll(bench);
      model.dead = model.dead.filter((each) => each !== dead);
      const waited = inPlace ? "its lane has waited for it" : "its lane has gone on";
      const how = lane.key === undefined ? "it has no lane" : waited;
      model.meets(`dead | an operator redrives it, and ${how}`);
      if (inPlace) revive(lane, model.now);
      else append(lane, { eventId, round: round + 1, expiresAt: model.expiries.get(eventId) }, model.now);
    },
    (model) => model.dead.length > 0,
  );
}
