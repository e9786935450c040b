import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import type { LaneSummary } from "../../../library/src/operator/lookup-store.js";
import type { BlockedLane } from "../../../library/src/operator/operator-store.js";
import { historyOf, listAll, outboxOf } from "../../../library/src/testing/conformance/outbox/steps.js";
import { dueIn, headSequence, isExpired } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { ENDPOINT_NAMES, expectTicks, isBlocking } from "./model.js";
import type { Command, Model } from "./model.js";

/** After every command the outbox shows what the model says. */
export function compared(inner: Command): Command {
  return {
    check: (model) => inner.check(model),
    toString: () => String(inner),
    run: async (model, bench) => {
      model.command = String(inner);
      await inner.run(model, bench);
      // A scene ends with a look of its own.
      if (model.command !== String(inner)) return;
      await compareDead(model, bench);
      await compareBlocked(model, bench);
      await compareUntilDue(model, bench);
    },
  };
}

async function compareUntilDue(model: Model, bench: OutboxBench): Promise<void> {
  const active = model.lanes.filter(({ endpointId }) => model.isActive(endpointId));
  const waits = active.flatMap((lane) => dueIn(lane, model.now) ?? []);
  const untilDue = await outboxOf(bench, 1).untilDue({ kind: "endpoint" });
  expectTicks(bench, untilDue, waits.length === 0 ? undefined : Math.max(0, Math.min(...waits)));
}

async function compareDead(model: Model, bench: OutboxBench): Promise<void> {
  const letters = await listAll((page) => outboxOf(bench).deadLetters(page), 4);
  const found = letters.map(({ id, eventId, round, because, attempts, lastStatus, blocks }) =>
    [id, eventId, round, because, attempts, lastStatus, blocks].join(" "),
  );
  const promised = model.listed().map((each) => {
    const { deliveryId, eventId, round, because, attempts, lastStatus, lane } = each;
    const blocks = isBlocking(each) && lane.key !== undefined;
    return [deliveryId, eventId, round, because, attempts, lastStatus, blocks].join(" ");
  });
  expect(found.toSorted()).toEqual(promised.toSorted());
}

async function compareBlocked(model: Model, bench: OutboxBench): Promise<void> {
  const listed = await listAll((page) => outboxOf(bench, 1).blockedLanes(page), 3);
  const blockedMs = listed.map((lane) => Math.round(lane.blockedMs / 1000));
  expect(blockedMs).toEqual(blockedMs.toSorted((one, other) => other - one));
  const found = new Map(listed.map((lane) => [`${lane.endpointId} ${lane.key}`, lane]));
  expect(found.size).toBe(listed.length);
  for (const lane of keyedLanes(model)) {
    model.meets(lane.queue.length === 0 ? "empty" : lane.state);
    compareLane(model, bench, lane, found.get(`${lane.endpointId} ${lane.key}`));
    found.delete(`${lane.endpointId} ${lane.key}`);
  }
  expect([...found.keys()]).toEqual([]);
}

function keyedLanes({ lanes }: Model): readonly ModelLane[] {
  return lanes.filter(({ key }) => key !== undefined);
}

/** Halted or parked where the head is dead, else paused or disabled where the endpoint is, else retrying. */
function stateOf(model: Model, lane: ModelLane): LaneSummary["state"] {
  if (lane.state !== "flowing") return lane.state;
  const { state = "active" } = model.endpoints.get(lane.endpointId) ?? {};
  if (state !== "active") return state;
  return lane.blockedAt === undefined ? "flowing" : "retrying";
}

function compareLane(
  model: Model,
  bench: OutboxBench,
  lane: ModelLane,
  seen: BlockedLane | LaneSummary | undefined,
): void {
  const state = stateOf(model, lane);
  if (lane.queue.length === 0) return expect(seen).toBe(undefined);
  if (seen === undefined) return expect(state).toBe("flowing");
  const { depth, failures, head } = seen;
  const { queue, firstSequence, blockedAt } = lane;
  expect([seen.state, depth, failures]).toEqual([state, BigInt(queue.length), lane.failures]);
  if (firstSequence !== undefined) expect(head).toBe(headSequence(lane));
  if ("headEventId" in seen) expect(seen.headEventId).toBe(queue[0]?.eventId);
  const since = blockedAt ?? model.endpoints.get(lane.endpointId)?.stoppedAt;
  expectTicks(bench, seen.blockedMs, since === undefined ? undefined : model.now - since);
  const isMoving = state === "flowing" || state === "retrying";
  const wait = lane.lease === undefined ? Math.max(0, lane.readyAt - model.now) : 0;
  expectTicks(bench, seen.dueInMs, isMoving ? wait : undefined);
}

/** At the end of a history everything that was published is found, as the model says that it stands. */
export async function compareAtTheEnd(model: Model, bench: OutboxBench): Promise<void> {
  await compareDeliveries(model, bench);
  await compareLanes(model, bench);
  await compareEndpoints(model, bench);
  // The store was asked for its time by an endpoint of its own.
  const cancelled = ((await bench.cancelled?.()) ?? []).filter(({ endpointId }) => endpointId !== "ep_clock");
  const told = cancelled.map(({ endpointId, eventId, because }) => `${endpointId} ${eventId} ${because}`);
  expect(told.toSorted()).toEqual(model.cancelled.toSorted());
  for (const [id, attempts] of model.history) expect(await historyOf(bench, id)).toBe(attempts.join(", "));
  for (const [id, ticks] of model.lapsed) {
    const attempts = await outboxOf(bench).attempts(id);
    const lapsed = attempts.filter(({ outcome }) => outcome === "lapsed");
    for (const [n, { durationMs }] of lapsed.entries()) expectTicks(bench, durationMs, ticks[n]);
  }
}

async function compareLanes(model: Model, bench: OutboxBench): Promise<void> {
  const lanes = await listAll((page) => outboxOf(bench, 1).lanes({}, page), 3);
  const found = new Map(lanes.map((lane) => [`${lane.endpointId} ${lane.key}`, lane]));
  const waiting = keyedLanes(model).filter(({ queue }) => queue.length > 0);
  expect([found.size, lanes.length]).toEqual([waiting.length, waiting.length]);
  for (const lane of waiting) {
    const seen = found.get(`${lane.endpointId} ${lane.key}`);
    expect(seen?.state).toBe(stateOf(model, lane));
    compareLane(model, bench, lane, seen);
  }
  const { staged, waiting: alive, dead, blockedLanes } = await outboxOf(bench).census();
  const counts = model.lanes.map(({ queue, state }) => queue.length - (state === "flowing" ? 0 : 1));
  const blocked = keyedLanes(model).filter(({ blockedAt }) => blockedAt !== undefined);
  expect({ staged, alive, dead, blockedLanes }).toEqual({
    staged: 0,
    alive: counts.reduce((sum, each) => sum + each, 0),
    dead: model.listed().length,
    blockedLanes: blocked.length,
  });
}

async function compareEndpoints(model: Model, bench: OutboxBench): Promise<void> {
  const found = await outboxOf(bench).readEndpoints(ENDPOINT_NAMES);
  const told = found.map(({ id, state, because, version }) => [id, state, because, version].join(" "));
  const promised = [...model.endpoints].map(([id, { state, because, version }]) =>
    [id, state, because, version].join(" "),
  );
  expect(told.toSorted()).toEqual(promised.toSorted());
}

async function compareDeliveries(model: Model, bench: OutboxBench): Promise<void> {
  const ids = Array.from({ length: model.published }, (_, n) => `e${n + 1}`);
  const deliveries = await outboxOf(bench, 1).deliveriesOf("default", ids);
  const told = deliveries.map(({ endpointId, eventId, round, state, because, attempts }) =>
    [endpointId, eventId, round, state, because ?? "undefined", attempts].join(" "),
  );
  const waiting = model.lanes.flatMap((lane) => lane.queue.map((_, at) => standingOf(model, lane, at)));
  expect(told.toSorted()).toEqual([...waiting, ...model.ended].toSorted());
}

function standingOf(model: Model, lane: ModelLane, at: number): string {
  const { endpointId, queue, lease, state } = lane;
  const { eventId, round } = queue[at] ?? {};
  const attempts = at === 0 ? lane.attempts : 0;
  const name = `${endpointId} ${eventId} ${round}`;
  const dead = model.dead.find((each) => each.lane === lane && isBlocking(each));
  if (at === 0 && state !== "flowing") return `${name} dead ${dead?.because} ${attempts}`;
  const isHeld = lease !== undefined && !isExpired(lane, model.now);
  const isUnderWay = isHeld && at < lease.claim.run.length;
  const standing = isUnderWay ? "under_way" : attempts > 0 ? "retrying" : "waiting";
  return `${name} ${standing} undefined ${attempts}`;
}
