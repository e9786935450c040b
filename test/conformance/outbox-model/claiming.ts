import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import {
  claim as claimOf,
  deliveryIn,
  eventOf,
  publish,
  sequenceAll,
  ticksMs,
  writeInTransaction,
} from "../../../library/src/testing/conformance/outbox/steps.js";
import { lapse, LAPSES_ALLOWED } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { command, ENDPOINTS, LEASE_TICKS, WORKERS } from "./model.js";
import type { Command, Model } from "./model.js";
import { passing } from "./operating.js";

/** Publishes events of one key, by `append` or in a transaction that commits or not. */
export function publishing(
  key: string | undefined,
  count: number,
  how: "append" | "commit" | "rollback",
): Command {
  return command(`publish(${key}, ${count}, ${how})`, async (model, bench) => {
    const ids = Array.from({ length: count }, () => `e${++model.published}`);
    if (how === "append") await publish(bench, ids, { key });
    else {
      const events = await Promise.all(ids.map((id) => eventOf({ id, key })));
      const thrown = how === "rollback" ? new Error("rolled back by the model") : undefined;
      await writeInTransaction(bench, [events], thrown).catch((error: unknown) => expect(error).toBe(thrown));
      await sequenceAll(bench);
    }
    if (how !== "rollback") for (const id of ids) model.publish(id, key);
  });
}

/** Claims everything that is due: also what lapsed is found then. */
export function claiming(worker: string, maxEvents: number): Command {
  const run: Command["run"] = async (model, bench) => {
    const moved = lapseAll(model);
    const answer = await claimOf(bench, requestOf(bench, worker, maxEvents));
    const due = model.due();
    const promised = due.filter(({ lapses }) => lapses < LAPSES_ALLOWED);
    const claimed = new Set(answer.claims.map((claim) => model.claimed(claim)));
    expect(claimed.size).toBe(answer.claims.length);
    for (const lane of claimed) expect(promised).toContain(lane);
    // A lane that a lapse has moved on may be claimed at once or next time.
    for (const lane of promised) if (!moved.has(lane)) expect([...claimed]).toContain(lane);
    for (const claim of answer.claims) model.take(claim, worker, maxEvents);
    expect(answer.lapsed).toBe(promised.length < due.length);
  };
  return command(`claim(${worker}, ${maxEvents})`, run, fewRunAlone);
}

/** A store need not look at all that run alone with each claim, so that more of them would be found some time. */
function fewRunAlone({ lanes }: Readonly<Model>): boolean {
  return lanes.filter(({ lapses }) => lapses >= LAPSES_ALLOWED - 1).length <= FEW;
}

const FEW = 5;

export function requestOf(
  bench: OutboxBench,
  worker: string,
  maxEvents: number,
): Parameters<typeof claimOf>[1] & object {
  const run = { maxEvents, maxBytes: 1_048_576 };
  return {
    worker,
    limit: 1000,
    leaseMs: ticksMs(bench, LEASE_TICKS),
    run,
    at: WORKERS.indexOf(worker as never),
  };
}

/** A worker claims everything and dies: without this, hardly a history would see a third lapse. */
export function dying(worker: string, maxEvents: number): Command {
  const run: Command["run"] = async (model, bench) => {
    await claiming(worker, maxEvents).run(model, bench);
    await passing(Math.ceil(LEASE_TICKS)).run(model, bench);
  };
  return command(`die(${worker}, ${maxEvents})`, run, fewRunAlone);
}

/** Ends every lease that has ended, and returns the lanes whose head is another since. */
function lapseAll(model: Model): Set<ModelLane> {
  const moved = new Set<ModelLane>();
  for (const lane of model.due().filter((each) => each.lease !== undefined)) {
    const { claim } = lane.lease ?? {};
    const { left } = lane;
    const killed = lapse(lane, (id, attempt) => model.note(id, attempt));
    lane.readyAt = model.now;
    if (killed !== undefined && claim !== undefined) {
      model.kill(lane, deliveryIn(claim), ENDPOINTS[lane.endpointId] ?? "halt");
      lane.settled = "either";
    }
    if (lane.left !== left) moved.add(lane);
  }
  return moved;
}

/** Claims a few. Which, is the store's choice; so nothing may have lapsed, nor wait to run alone, which it might look at or not. */
export function claimingSome(worker: string, limit: number): Command {
  return command(
    `claimSome(${worker}, ${limit})`,
    async (model, bench) => {
      const promised = model.due();
      const { claims } = await claimOf(bench, { ...requestOf(bench, worker, 1), limit });
      expect(claims).toHaveLength(Math.min(limit, promised.length));
      for (const claim of claims) expect(promised).toContain(model.claimed(claim));
      for (const claim of claims) model.take(claim, worker, 1);
    },
    (model) => !model.hasExpired() && model.due().every(({ lapses }) => lapses < LAPSES_ALLOWED),
  );
}

export function claimingAlone(worker: string): Command {
  return command(
    `claimAlone(${worker})`,
    async (model, bench) => {
      const promised = model.due().filter(({ lapses }) => lapses >= LAPSES_ALLOWED);
      const { claims } = await claimOf(bench, { ...requestOf(bench, worker, 8), alone: true });
      expect(claims).toHaveLength(Math.min(1, promised.length));
      for (const claim of claims) expect(promised).toContain(model.claimed(claim));
      for (const claim of claims) model.take(claim, worker, 1);
    },
    (model) => !model.hasExpired(),
  );
}
