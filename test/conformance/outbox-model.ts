import * as fc from "fast-check";
import type { OutboxBench, OutboxHarness } from "posthorn/testing";
import { expect, it } from "vitest";
import type { Claim, NextState } from "../../library/src/delivery/delivery-store.js";
import type { DeadPolicy } from "../../library/src/outbox/endpoint.js";
import {
  addEndpoint,
  claim as claimOf,
  deliveryIn,
  eventOf,
  historyOf,
  listAll,
  outboxOf,
  passTicks,
  publish,
  sequenceAll,
  settlementOf,
  ticksMs,
  writeInTransaction,
} from "../../library/src/testing/conformance/outbox-steps.js";
import { skipFor } from "../skip-reason.js";
import {
  append,
  emptyLane,
  headSequence,
  isDue,
  isExpired,
  lapse,
  LAPSES_ALLOWED,
  pass,
  runLength,
} from "./outbox-model-lane.js";
import type { ModelLane } from "./outbox-model-lane.js";

/** A delivery that the model knows to be dead. */
interface ModelDead {
  readonly deliveryId: string;
  readonly lane: ModelLane;
  readonly eventId: string;
  readonly round: number;
}

// Never a whole number of ticks: the model need not know what happens at the very edge.
const LEASE_TICKS = 2.5;
const WORKERS = ["worker_1", "worker_2"] as const;
/** Each with its policy for the dead; their order is their id's. */
const ENDPOINTS: Readonly<Record<string, DeadPolicy>> = {
  ep_key: "halt",
  ep_endpoint: "skip",
  ep_none: "park",
};

class Model {
  /** In ticks. */
  now = 0;
  published = 0;
  readonly lanes: ModelLane[] = [];
  readonly paused = new Set<string>();
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
  claimed({ endpoint, lane, run }: Claim): ModelLane {
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

type Command = fc.AsyncCommand<Model, OutboxBench>;

/** A command by what it does; each prints itself as it was called. */
function command(
  text: string,
  run: (model: Model, bench: OutboxBench) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return { check, run, toString: () => text };
}

/** Publishes events of one key, by `append` or in a transaction that commits or not. */
function publishing(key: string | undefined, count: number, how: "append" | "commit" | "rollback"): Command {
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
function claiming(worker: string, maxEvents: number): Command {
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

function requestOf(
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
function dying(worker: string, maxEvents: number): Command {
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
function claimingSome(worker: string, limit: number): Command {
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

function claimingAlone(worker: string): Command {
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

/** What a worker may say of a claim. */
interface Doing {
  /** Of a run, rounded down. */
  readonly acknowledged: 0 | 0.5 | 1;
  readonly rest: "due" | "due_uncounted" | "halt" | "skip" | "park" | "cancelled" | "nothing";
  readonly next: boolean;
}

/** Settles one of the latest claims, whether it is still held or has passed to another long ago. */
function settling(back: number, doing: Doing): Command {
  return command(
    `settle(${back}, ${JSON.stringify(doing)})`,
    async (model, bench) => {
      const claim = model.claims.at(-1 - (back % model.claims.length));
      if (claim === undefined) return;
      const lane = model.lanes.find(({ lease }) => lease?.claim === claim);
      const acknowledged = Math.floor(doing.acknowledged * claim.run.length);
      const rest = acknowledged === claim.run.length ? undefined : restOf(bench, doing.rest);
      // Given back untried, it is due at once: who asks for the next then, is asking for the same.
      const next = doing.next && (acknowledged > 0 || rest !== undefined);
      const settlement = settlementOf(claim, { acknowledged, next, ...(rest && { rest }) });
      const worker = lane?.lease?.worker ?? WORKERS[0];
      const { leaseMs = 0, run = { maxEvents: 1, maxBytes: 1 } } = requestOf(bench, worker, 4);
      const [answer] = await outboxOf(bench, back).settle({
        worker,
        leaseMs,
        run,
        settlements: [settlement],
      });
      if (lane === undefined) return expect(answer).toEqual({ kind: "stale" });
      expect(answer?.kind).toBe("settled");
      const skipped = lane.skipIntended && acknowledged === 0;
      for (const { sequence, round, number, outcome } of settlement.attempts) {
        const index = claim.run.findIndex((each) => each.sequence === sequence);
        model.note(deliveryIn(claim, index), `${round}.${number} ${outcome}`);
      }
      applySettlement(model, lane, {
        claim,
        acknowledged,
        rest,
        tried: settlement.attempts.length > acknowledged,
      });
      const found = answer?.kind === "settled" ? answer.next : undefined;
      const free = isDue(lane, model.now) && lane.key !== undefined && !model.paused.has(lane.endpointId);
      const promised = next && free && lane.lapses < LAPSES_ALLOWED;
      // Behind a head that was skipped the worker may get the next one, or whoever claims it.
      if (found !== undefined || !skipped) expect(found !== undefined).toBe(promised);
      if (found !== undefined) model.take(found, worker, 4);
    },
    (model) => model.claims.length > 0,
  );
}

interface Applied {
  readonly claim: Claim;
  readonly acknowledged: number;
  readonly rest: NextState | undefined;
  readonly tried: boolean;
}

function applySettlement(model: Model, lane: ModelLane, { claim, acknowledged, rest, tried }: Applied): void {
  for (let n = 0; n < acknowledged; n++) pass(lane, true);
  lane.lease = undefined;
  lane.settled = true;
  lane.readyAt = model.now;
  if (acknowledged === claim.run.length) return;
  if (tried) {
    lane.attempts += 1;
    lane.hasFailed = true;
  }
  if (lane.skipIntended || rest?.state === "cancelled") return pass(lane);
  if (rest?.state === "dead") model.kill(lane, deliveryIn(claim, acknowledged), rest.policy);
  if (rest?.state !== "due") return;
  lane.readyAt = model.now + WAIT_TICKS;
  lane.failures += rest.counts ? 1 : 0;
}

const WAIT_TICKS = 1.5;

function restOf(bench: OutboxBench, rest: Doing["rest"]): NextState | undefined {
  switch (rest) {
    case "nothing":
      return undefined;
    case "due":
    case "due_uncounted":
      return { state: "due", afterMs: ticksMs(bench, WAIT_TICKS), counts: rest === "due" };
    case "cancelled":
      return { state: "cancelled", because: "expired" };
    case "halt":
    case "skip":
    case "park":
      return { state: "dead", because: "exhausted", policy: rest };
  }
}

function passing(ticks: number): Command {
  return command(`pass(${ticks})`, async (model, bench) => {
    await passTicks(bench, ticks);
    model.now += ticks;
  });
}

function pausing(endpointId: string, pause: boolean): Command {
  return command(`${pause ? "pause" : "resume"}(${endpointId})`, async (model, bench) => {
    await outboxOf(bench).changeEndpoint(endpointId, { state: pause ? "paused" : "active" });
    if (pause) model.paused.add(endpointId);
    else model.paused.delete(endpointId);
  });
}

function releasing(worker: string): Command {
  return command(
    `release(${worker})`,
    async (model, bench) => {
      const leased = model.lanes.filter(({ lease }) => lease?.worker === worker);
      expect(await outboxOf(bench, 1).release(worker, [])).toBe(leased.length);
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

function skipping(at: number): Command {
  const chosen = ({ lanes, now }: Readonly<Model>): ModelLane | undefined => {
    const known = lanes.filter(
      (lane) => lane.id !== undefined && lane.key !== undefined && !isExpired(lane, now),
    );
    return known[at % Math.max(1, known.length)];
  };
  return command(
    `skip(${at})`,
    async (model, bench) => {
      const lane = chosen(model);
      if (lane?.id === undefined) return;
      const found = await outboxOf(bench).skip(lane.id);
      if (lane.queue.length === 0) return expect(found).toBe("unknown");
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

function redriving(at: number): Command {
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

function isBlocking({ lane, eventId, round }: ModelDead): boolean {
  const [head] = lane.queue;
  return lane.state !== "flowing" && head?.eventId === eventId && head.round === round;
}

/** After every command the outbox shows what the model says. */
function compared(inner: Command): Command {
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

const key = fc.constantFrom("a", "b", undefined);
const worker = fc.constantFrom(...WORKERS);
const doing: fc.Arbitrary<Doing> = fc.record({
  acknowledged: fc.constantFrom(0, 0.5, 1, 1),
  rest: fc.constantFrom("due", "due_uncounted", "halt", "skip", "park", "cancelled", "nothing"),
  next: fc.boolean(),
});
const small = fc.nat({ max: 5 });

const commands: fc.Arbitrary<Command>[] = [
  fc
    .tuple(key, fc.constantFrom(1, 2, 5), fc.constantFrom("append", "append", "commit", "rollback"))
    .map((each) => publishing(...each)),
  fc.tuple(worker, fc.constantFrom(1, 3, 8)).map((each) => claiming(...each)),
  fc.tuple(worker, fc.constantFrom(1, 1, 3)).map((each) => dying(...each)),
  fc.tuple(worker, fc.constantFrom(1, 1, 3)).map((each) => dying(...each)),
  fc.tuple(worker, fc.constantFrom(1, 2)).map((each) => claimingSome(...each)),
  worker.map((each) => claimingAlone(each)),
  fc.tuple(small, doing).map((each) => settling(...each)),
  fc.tuple(small, doing).map((each) => settling(...each)),
  fc.tuple(small, doing).map((each) => settling(...each)),
  fc.constantFrom(1, 2, 3).map((ticks) => passing(ticks)),
  fc.constantFrom(3).map((ticks) => passing(ticks)),
  fc.tuple(fc.constantFrom(...Object.keys(ENDPOINTS)), fc.boolean()).map((each) => pausing(...each)),
  worker.map((each) => releasing(each)),
  small.map((at) => skipping(at)),
  small.map((at) => redriving(at)),
];

/** Runs random histories on an outbox and on a small model of it; rejects with the shortest on which they disagree. */
export async function checkOutboxModel<Tx>(
  harness: OutboxHarness<Tx>,
  numRuns: number,
  seed?: number,
): Promise<void> {
  const histories = fc.commands(
    commands.map((each) => each.map(compared)),
    { maxCommands: 40, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const bench = (await harness.open()) as unknown as OutboxBench;
      const model = new Model();
      try {
        for (const [id, dead] of Object.entries(ENDPOINTS)) {
          await addEndpoint(bench, { id, dead, order: id.slice(3) as "key" | "endpoint" | "none" });
        }
        await fc.asyncModelRun(() => ({ model, real: bench }), history);
        for (const [id, attempts] of model.history)
          expect(await historyOf(bench, id)).toBe(attempts.join(", "));
      } finally {
        await bench.close();
      }
    }),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
}

/** The same as a test of vitest. */
export function outboxModelTest<Tx>(
  what: string,
  harness: OutboxHarness<Tx>,
  { numRuns = 100, missing }: { readonly numRuns?: number; readonly missing?: string } = {},
): void {
  const options = { ...skipFor(missing), timeout: 120_000 };
  it(`${what} does what the model says, whatever happens in whatever order`, options, () =>
    checkOutboxModel(harness, numRuns),
  );
}
