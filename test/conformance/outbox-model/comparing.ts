import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import { listAll, outboxOf } from "../../../library/src/testing/conformance/outbox/steps.js";
import { isExpired } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { isBlocking } from "./model.js";
import type { Command, Model } from "./model.js";

/** After every command the outbox shows what the model says. */
export function compared(inner: Command): Command {
  return {
    check: (model) => inner.check(model),
    toString: () => String(inner),
    run: async (model, bench) => {
      await inner.run(model, bench);
      await compareDead(model, bench);
      await compareBlocked(model, bench);
      const untilDue = await outboxOf(bench, 1).untilDue();
      if (model.due().length > 0) expect(untilDue).toBe(0);
      else expect(untilDue).not.toBe(0);
    },
  };
}

async function compareDead(model: Model, bench: OutboxBench): Promise<void> {
  const letters = await listAll((page) => outboxOf(bench).deadLetters(page), 4);
  const found = letters.map(({ id, eventId, round, blocks }) => `${id} ${eventId} ${round} ${blocks}`);
  const promised = model.dead.map((each) => {
    const blocks = isBlocking(each) && each.lane.key !== undefined;
    return `${each.deliveryId} ${each.eventId} ${each.round} ${blocks}`;
  });
  expect(found.toSorted()).toEqual(promised.toSorted());
}

async function compareBlocked(model: Model, bench: OutboxBench): Promise<void> {
  const listed = await listAll((page) => outboxOf(bench, 1).blockedLanes(page), 3);
  const found = new Map(listed.map(({ endpointId, key, ...lane }) => [`${endpointId} ${key}`, lane]));
  expect(found.size).toBe(listed.length);
  for (const lane of model.lanes.filter(({ key }) => key !== undefined)) {
    const seen = found.get(`${lane.endpointId} ${lane.key}`);
    const state = blockedState(model, lane);
    if (state === "either") continue;
    expect(seen?.state).toBe(state);
    if (seen === undefined) continue;
    const { depth, headEventId, failures } = seen;
    expect([depth, headEventId, failures]).toEqual([
      BigInt(lane.queue.length),
      lane.queue[0]?.eventId,
      lane.failures,
    ]);
  }
}

/** Either: its head has only lapsed, or two reasons hold at once. */
function blockedState(model: Model, lane: ModelLane): string | undefined {
  const paused = model.paused.has(lane.endpointId);
  if (lane.queue.length === 0) return undefined;
  if (lane.attempts > 0 && !lane.hasFailed) return "either";
  if (lane.state !== "flowing") return paused ? "either" : lane.state;
  if (paused) return lane.hasFailed ? "either" : "paused";
  return lane.hasFailed ? "retrying" : undefined;
}

/** At the end of a history everything that was published is found, as the model says that it stands. */
export async function compareLookups(model: Model, bench: OutboxBench): Promise<void> {
  await compareDeliveries(model, bench);
  const waiting = model.lanes.filter(({ key, queue }) => key !== undefined && queue.length > 0);
  const lanes = await listAll((page) => outboxOf(bench, 1).lanes({}, page), 3);
  const found = lanes.map(({ endpointId, key, depth }) => `${endpointId} ${key} ${depth}`);
  const promised = waiting.map(({ endpointId, key, queue }) => `${endpointId} ${key} ${queue.length}`);
  expect(found.toSorted()).toEqual(promised.toSorted());
  const census = await outboxOf(bench).census();
  const alive = model.lanes.map(({ queue, state }) => queue.length - (state === "flowing" ? 0 : 1));
  expect(census.waiting).toBe(alive.reduce((sum, each) => sum + each, 0));
  expect(census.dead).toBe(model.dead.length);
}

async function compareDeliveries(model: Model, bench: OutboxBench): Promise<void> {
  const ids = Array.from({ length: model.published }, (_, n) => `e${n + 1}`);
  const deliveries = await outboxOf(bench, 1).deliveriesOf("default", ids);
  const ended = new Set(["delivered", "cancelled"]);
  const dead = new Set(model.dead.map(({ deliveryId }) => deliveryId));
  const found = deliveries.filter(({ id, state }) => !ended.has(state) && (state !== "dead" || dead.has(id)));
  const promised = model.lanes.flatMap((lane) => lane.queue.map((_, at) => standingOf(model, lane, at)));
  const passed = model.dead.filter((each) => !isBlocking(each));
  const passedOver = passed.map(({ lane, eventId, round }) => `${lane.endpointId} ${eventId} ${round} dead`);
  const told = found.map(
    ({ endpointId, eventId, round, state }) => `${endpointId} ${eventId} ${round} ${state}`,
  );
  expect(told.toSorted()).toEqual([...promised, ...passedOver].toSorted());
}

function standingOf({ now }: Model, lane: ModelLane, at: number): string {
  const { endpointId, queue, lease, state, attempts } = lane;
  const { eventId = "", round = 0 } = queue[at] ?? {};
  const name = `${endpointId} ${eventId} ${round}`;
  if (at === 0 && state !== "flowing") return `${name} dead`;
  const isHeld = lease !== undefined && !isExpired(lane, now);
  if (isHeld && at < lease.claim.run.length) return `${name} under_way`;
  return `${name} ${at === 0 && attempts > 0 ? "retrying" : "waiting"}`;
}
