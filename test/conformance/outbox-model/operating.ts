import { expect } from "vitest";
import { outboxOf, passTicks, sequenceAll } from "../../../library/src/testing/conformance/outbox/steps.js";
import { append, emptyLane, headSequence, isExpired, pass } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { command, isBlocking, WORKERS } from "./model.js";
import type { Command, Model } from "./model.js";

export function passing(ticks: number): Command {
  return command(`pass(${ticks})`, async (model, bench) => {
    await passTicks(bench, ticks);
    model.now += ticks;
  });
}

export function pausing(endpointId: string, pause: boolean): Command {
  return command(`${pause ? "pause" : "resume"}(${endpointId})`, async (model, bench) => {
    const changed = await outboxOf(bench).changeEndpoint(endpointId, {
      state: pause ? "paused" : "active",
    });
    const version = (model.versions.get(endpointId) ?? 1) + 1;
    expect(changed?.version).toBe(version);
    model.versions.set(endpointId, version);
    if (pause) model.paused.add(endpointId);
    else model.paused.delete(endpointId);
  });
}

export function releasing(worker: string): Command {
  return command(
    `release(${worker})`,
    async (model, bench) => {
      const leased = model.lanes.filter(({ lease }) => lease?.worker === worker);
      const outbox = outboxOf(bench, WORKERS.indexOf(worker as never));
      expect(await outbox.release(worker, [])).toBe(leased.length);
      for (const lane of leased) {
        lane.lease = undefined;
        lane.readyAt = model.now;
        lane.settled = "either";
      }
    },
    // A head that is to be skipped may be gone at once, or when it is claimed again.
    (model) => !model.hasExpired() && !model.lanes.some(({ skipIntended }) => skipIntended),
  );
}

/** `by`: how far from the head is what the operator means. */
export function skipping(at: number, by: number): Command {
  const chosen = ({ lanes, now }: Readonly<Model>): ModelLane | undefined => {
    const known = lanes.filter(
      (lane) => lane.id !== undefined && lane.key !== undefined && !isExpired(lane, now),
    );
    return known[at % Math.max(1, known.length)];
  };
  return command(
    `skip(${at}, ${by})`,
    async (model, bench) => {
      const lane = chosen(model);
      if (lane?.id === undefined) return;
      const found = await outboxOf(bench).skip(lane.id, (headSequence(lane) ?? 0n) + BigInt(by));
      if (lane.queue.length === 0 || by !== 0) return expect(found).toBe("unknown");
      expect(found).toBe(lane.lease === undefined ? "skipped" : "intended");
      if (lane.lease !== undefined) return void (lane.skipIntended = true);
      pass(lane);
      lane.readyAt = model.now;
      // The claim that lapsed was of the head before.
      if (lane.settled === false) lane.settled = "either";
    },
    (model) => chosen(model) !== undefined,
  );
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
      if (!inPlace) return append(lane, { eventId, round: round + 1 }, model.now);
      lane.queue[0] = { eventId, round: round + 1 };
      Object.assign(lane, { ...emptyLane("", ""), ...keptOf(lane), readyAt: model.now });
    },
    (model) => model.dead.length > 0,
  );
}

/** What of a lane a redrive in place leaves as it is. */
function keptOf(lane: ModelLane): Partial<ModelLane> {
  const { endpointId, key, queue, left, firstSequence, after, suspectUntil, id } = lane;
  return { endpointId, key, queue, left, firstSequence, after, suspectUntil, id };
}
