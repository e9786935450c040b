import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import { listAll, outboxOf } from "../../../library/src/testing/conformance/outbox-steps.js";
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
