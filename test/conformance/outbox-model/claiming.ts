import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import type { Claim } from "../../../library/src/lanes/lane-store.js";
import {
  claim as claimOf,
  dateAfter,
  deliveryIn,
  eventOf,
  publish,
  sequenceAll,
  ticksMs,
  writeInTransaction,
} from "../../../library/src/testing/conformance/outbox/steps.js";
import { LAPSES_ALLOWED } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { command, ENDPOINTS, expectTicks, LEASE_TICKS, WORKERS } from "./model.js";
import type { Command, EndpointName, Model } from "./model.js";
import { passing } from "./operating.js";

/** What is published, and how. */
export interface Publishing {
  readonly key: string | undefined;
  readonly type: string;
  readonly count: number;
  readonly how: "append" | "commit" | "rollback";
  /** In ticks from now. */
  readonly expiresIn: number | undefined;
}

/** What time it is at the store, in the words of an event: at tick 0, and whether that moves with the ticks. */
export interface StoreTime {
  readonly startMs: number;
  readonly moves: boolean;
}

/** Asks the store for its time. */
export async function storeTime(bench: OutboxBench, moves: boolean): Promise<StoreTime> {
  return { startMs: (await dateAfter(bench, 0)).getTime(), moves };
}

/** Publishes events of one key, by `append` or in a transaction that commits or not. */
export function publishing(what: Publishing, time: () => StoreTime): Command {
  const { key, type, count, how, expiresIn } = what;
  return command(`publish(${JSON.stringify(what)})`, async (model, bench) => {
    const ids = Array.from({ length: count }, () => `e${++model.published}`);
    const { startMs, moves } = time();
    const ticks = expiresIn === undefined ? undefined : (moves ? model.now : 0) + expiresIn;
    const expiresAt = ticks === undefined ? undefined : new Date(startMs + ticksMs(bench, ticks));
    const given = { key, type, expiresAt };
    if (how === "append") await publish(bench, ids, given);
    else {
      const events = await Promise.all(ids.map((id) => eventOf({ id, ...given })));
      const thrown = how === "rollback" ? new Error("rolled back by the model") : undefined;
      await writeInTransaction(bench, [events], thrown).catch((error: unknown) => expect(error).toBe(thrown));
      await sequenceAll(bench);
    }
    const until = expiresIn === undefined ? undefined : model.now + expiresIn;
    if (how !== "rollback") for (const eventId of ids) model.publish({ eventId, expiresAt: until }, what);
  });
}

/** Claims everything that is due: also what lapsed is found then. */
export function claiming(worker: string, maxEvents: number): Command {
  const run: Command["run"] = async (model, bench) => {
    const found = endLeases(model);
    const answer = await claimOf(bench, requestOf(bench, worker, maxEvents));
    const due = model.due();
    const promised = due.filter(({ lapses }) => lapses < LAPSES_ALLOWED);
    const claimed = new Set(answer.claims.map((claim) => model.claimed(claim)));
    expect(claimed.size).toBe(answer.claims.length);
    for (const lane of claimed) expect(promised).toContain(lane);
    // A lane whose head was passed over may be claimed at once or next time.
    for (const lane of promised) if (found.get(lane) !== "passed") expect([...claimed]).toContain(lane);
    for (const claim of answer.claims) {
      // Behind a head that was passed over, a store may lease one delivery or a run.
      const orFewer = found.get(model.claimed(claim)) === "passed";
      takeClaim(model, bench, { claim, worker, maxEvents, orFewer });
    }
    expect(answer.lapsed).toBe(promised.length < due.length);
  };
  return command(`claim(${worker}, ${maxEvents})`, run, fewRunAlone);
}

/** A store need not look at all that run alone with each claim, so that more of them would be found some time. */
function fewRunAlone({ lanes }: Readonly<Model>): boolean {
  return lanes.filter(({ lapses }) => lapses >= LAPSES_ALLOWED - 1).length <= FEW;
}

const FEW = 5;

interface Taking {
  readonly claim: Claim;
  readonly worker: string;
  readonly maxEvents: number;
  /** Whether a store may lease fewer than it could. */
  readonly orFewer?: boolean;
}

/** Checks what a worker was given against the model, and notes it. */
export function takeClaim(model: Model, bench: OutboxBench, { claim, worker, ...taking }: Taking): void {
  const lane = model.claimed(claim);
  const exact = model.exactly(lane, taking.maxEvents);
  model.take(claim, worker, taking.orFewer === true ? { ...exact, least: 1 } : exact);
  for (const [n, { expiresInMs }] of claim.run.entries()) {
    const expiresAt = lane.queue[n]?.expiresAt;
    expectTicks(bench, expiresInMs, expiresAt === undefined ? undefined : expiresAt - model.now);
  }
}

export function requestOf(
  bench: OutboxBench,
  worker: string,
  maxEvents: number,
): Parameters<typeof claimOf>[1] & object {
  const run = { maxEvents, maxBytes: 1_048_576 };
  const at = WORKERS.indexOf(worker as never);
  return { worker, limit: 1000, leaseMs: ticksMs(bench, LEASE_TICKS), run, at };
}

/** A worker claims everything and dies: without this, hardly a history would see a third lapse. */
export function dying(worker: string, maxEvents: number): Command {
  const run: Command["run"] = async (model, bench) => {
    await claiming(worker, maxEvents).run(model, bench);
    await passing(Math.ceil(LEASE_TICKS)).run(model, bench);
  };
  return command(`die(${worker}, ${maxEvents})`, run, fewRunAlone);
}

/** Ends every lease that has ended, and says of which lanes, and whether their head is another since. */
function endLeases(model: Model): ReadonlyMap<ModelLane, "passed" | "stayed"> {
  const found = new Map<ModelLane, "passed" | "stayed">();
  for (const lane of model.due().filter(({ lease }) => lease !== undefined)) {
    const { left, lapses, lease } = lane;
    model.endLease(lane);
    if (lane.skipIntended) model.cancel(lane, "skipped");
    else if (lapses >= LAPSES_ALLOWED && lease !== undefined) {
      model.meets(
        "due | its lease ends without a settlement for the fourth time in a row; the fourth time it ran alone",
      );
      const policy = ENDPOINTS[lane.endpointId as EndpointName].dead ?? "halt";
      model.kill(lane, deliveryIn(lease.claim), { because: "lease_expired", policy, lastStatus: undefined });
    }
    found.set(lane, lane.left === left ? "stayed" : "passed");
  }
  return found;
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
      for (const claim of claims) takeClaim(model, bench, { claim, worker, maxEvents: 1 });
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
      for (const claim of claims) takeClaim(model, bench, { claim, worker, maxEvents: 1 });
    },
    (model) => !model.hasExpired(),
  );
}
