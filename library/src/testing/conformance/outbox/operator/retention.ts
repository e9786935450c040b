import type { RemovalStep, RetentionKind } from "../../../../retention/retention-store.js";
import { utf8 } from "../../../../bytes.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  attemptsOf,
  claim,
  claimOne,
  claimSoon,
  dateAfter,
  deliverAll,
  deliveryIn,
  eventOf,
  fail,
  kill,
  killNext,
  outboxOf,
  passTicks,
  publish,
  sequenceAll,
  settled,
  ticksMs,
} from "../steps.js";
import { A, register, store } from "../workers/handlers.js";

/** What is removed when its time is over, and what never is. */
export const outboxRetention: readonly OutboxPledge[] = [
  {
    name: "an event that is older than its window goes, with its attempts and its lane; a younger one stays",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { key: "k1" });
      const first = await claimOne(bench);
      await acknowledge(bench, first);
      await passTicks(bench, 3);
      await publish(bench, ["e2"], { key: "k2" });
      await deliverAll(bench);
      await remove(bench, "events", 2);
      alike(await eventsLeft(bench), ["e2"], "the events that are left");
      alike(await outboxOf(bench).attempts(deliveryIn(first)), [], "attempts of the one that is gone");
      same(await outboxOf(bench).delivery(deliveryIn(first)), undefined, "its delivery");
      alike(await outboxOf(bench).deliveriesOf("default", ["e1"]), [], "its deliveries");
      same(
        (await outboxOf(bench).deliveriesOf("default", ["e2"])).length,
        1,
        "deliveries of the younger one",
      );
    },
  },
  {
    name: "an event stays while a delivery of it waits, is under way or is not due yet",
    async check(bench) {
      const later = await dateAfter(bench, 500);
      await addEndpoint(bench, { sources: ["app"] });
      await addEndpoint(bench, { id: "ep_loose", order: "none", sources: ["loose"] });
      await publish(bench, ["held", "behind"], { key: "held" });
      await publish(bench, ["waits"], { key: "waits" });
      await publish(bench, ["loose"], { source: "loose", key: "loose" });
      await publish(bench, ["later"], { key: "later", deliverAt: later });
      const { claims } = await claim(bench, { limit: 1, leaseMs: ticksMs(bench, 400) });
      same(claims.length, 1, "claims");
      await passTicks(bench, 100);
      await removeAll(bench, 1);
      alike(
        await eventsLeft(bench),
        ["behind", "held", "later", "loose", "waits"],
        "the events that are left",
      );
      for (const each of claims) await acknowledge(bench, each);
      const rest = (await deliverAll(bench)).split(" ").toSorted();
      same(rest.length, 3, `deliveries after it (${rest.join(" ")})`);
    },
  },
  {
    name: "an event that waits for its retry stays, with its attempts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const first = await claimOne(bench);
      await fail(bench, first, 50);
      await passTicks(bench, 10);
      await removeAll(bench, 1);
      alike(await eventsLeft(bench), ["e1"], "the events that are left");
      same((await outboxOf(bench).attempts(deliveryIn(first))).length, 1, "attempts");
      await passTicks(bench, 60);
      same(await deliverAll(bench), "e1", "what is delivered");
    },
  },
  {
    name: "nothing of a lane that is halted or parked goes, and it can be redriven",
    async check(bench) {
      await addEndpoint(bench);
      for (const policy of ["halt", "park"] as const) {
        await publish(bench, [`${policy}1`, `${policy}2`], { key: policy });
        const dead = await killNext(bench, policy);
        await passTicks(bench, 100);
        await removeAll(bench, 1);
        alike(await eventsLeft(bench), [`${policy}1`, `${policy}2`], "the events that are left");
        same((await outboxOf(bench).attempts(deliveryIn(dead))).length, 1, "attempts of the dead head");
        same(await outboxOf(bench).redrive(deliveryIn(dead)), "in_place", "redrive");
        same(await deliverAll(bench), `${policy}1 ${policy}2`, "what is delivered");
        await passTicks(bench, 100);
        await removeAll(bench, 1);
        alike(await eventsLeft(bench), [], "what is left when all of it was delivered");
      }
    },
  },
  {
    name: "a dead letter goes only after it was resolved and its own window has passed, and holds its event until then",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const dead = await killNext(bench, "skip");
      await passTicks(bench, 100);
      await removeAll(bench, 1);
      same((await outboxOf(bench).deadLetters({ limit: 9 })).items.length, 1, "dead letters that are listed");
      same(await outboxOf(bench).redrive(deliveryIn(dead)), "at_end", "redrive");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
      await passTicks(bench, 10);
      await remove(bench, "dead", 50);
      await remove(bench, "events", 1);
      alike(await eventsLeft(bench), ["e1"], "the events within the dead letter's window");
      await passTicks(bench, 50);
      await remove(bench, "dead", 50);
      await remove(bench, "events", 1);
      alike(await eventsLeft(bench), [], "the events after it");
    },
  },
  {
    name: "what a removed endpoint leaves, dead letters too, goes after its windows",
    async check(bench) {
      await addEndpoint(bench, { sources: ["app"] });
      await addEndpoint(bench, { id: "ep_loose", order: "none", sources: ["loose"] });
      await publish(bench, ["dead", "waits"]);
      await publish(bench, ["loose"], { source: "loose" });
      for (const each of (await claim(bench)).claims) await kill(bench, each);
      for (const id of ["ep_a", "ep_loose"]) await outboxOf(bench).removeEndpoint(id);
      await sequenceAll(bench);
      await passTicks(bench, 9);
      await removeAll(bench, 10);
      alike(await eventsLeft(bench), ["dead", "loose", "waits"], "the events within their windows");
      await passTicks(bench, 9);
      await removeAll(bench, 10);
      alike(await eventsLeft(bench), [], "the events after them");
    },
  },
  {
    name: "what is gone can be redriven no more",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const dead = await killNext(bench, "skip");
      await outboxOf(bench).redrive(deliveryIn(dead));
      await sequenceAll(bench);
      await deliverAll(bench);
      await passTicks(bench, 9);
      await removeAll(bench, 1);
      same(await outboxOf(bench).redrive(deliveryIn(dead)), "unknown", "redrive");
    },
  },
  {
    name: "a lane that is gone and comes back begins above its old sequences, in a higher generation",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await deliverAll(bench);
      await publish(bench, ["e3"]);
      const before = await claimOne(bench);
      await acknowledge(bench, before);
      await passTicks(bench, 9);
      await removeAll(bench, 1);
      alike(await eventsLeft(bench), [], "the events that are left");
      await publish(bench, ["e4"]);
      const after = await claimOne(bench);
      holds(after.run[0].sequence > before.run[0].sequence, "The sequence of the new lane has gone back");
      const [old = 0n, now = 0n] = [before.lane?.generation, after.lane?.generation];
      holds(now > old, `The generation is ${now} after ${old}`);
      same(after.after, undefined, "what came before its first one");
    },
  },
  {
    name: "a lane of which something is told keeps its generation",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const before = await claimOne(bench);
      await acknowledge(bench, before);
      await passTicks(bench, 3);
      await publish(bench, ["e2"]);
      await deliverAll(bench);
      await remove(bench, "events", 2);
      alike(await eventsLeft(bench), ["e2"], "the events that are left");
      await publish(bench, ["e3"]);
      const after = await claimOne(bench);
      same(after.lane?.generation, before.lane?.generation, "the generation");
      same(after.run[0].sequence, before.run[0].sequence + 2n, "the sequence");
    },
  },
  {
    name: "a lane of a handler goes with its event, though the handler left no attempt, and comes back in a higher generation",
    async check(bench) {
      await register(bench, {});
      await store(bench, ["e1"]);
      const before = await claimOne(bench, { of: A });
      await acknowledge(bench, before, { attempts: [] });
      await passTicks(bench, 9);
      await removeAll(bench, 1);
      await store(bench, ["e2"]);
      const after = await claimOne(bench, { of: A });
      holds(after.run[0].sequence > before.run[0].sequence, "The sequence of the new lane has gone back");
      const [old = 0n, now = 0n] = [before.lane?.generation, after.lane?.generation];
      holds(now > old, `The generation is ${now} after ${old}`);
    },
  },
  {
    name: "an id that a publisher gave is known for its own window, also when its event is gone",
    async check(bench) {
      await addEndpoint(bench);
      const event = await eventOf({ id: "given", idGiven: true });
      const other = await eventOf({ id: "given", idGiven: true, body: utf8("{}") });
      alike(await outboxOf(bench).append([event]), ["written"], "the first time");
      await sequenceAll(bench);
      await deliverAll(bench);
      await passTicks(bench, 3);
      await remove(bench, "events", 1, { idWindowMs: ticksMs(bench, 50) });
      alike(await eventsLeft(bench), [], "the events that are left");
      await remove(bench, "ids", 0);
      alike(await outboxOf(bench).append([event]), ["duplicate"], "the second time");
      alike(await outboxOf(bench).append([other]), ["conflict"], "another body");
      await passTicks(bench, 60);
      await remove(bench, "ids", 0);
      alike(await outboxOf(bench).append([event]), ["written"], "after its window");
    },
  },
  {
    name: "answers and attempts can go before their event, and what was delivered is not told as dead",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const first = await claimOne(bench);
      const attempts = attemptsOf(first, { acknowledged: 1 });
      const answered = attempts.map((attempt) => Object.assign(attempt, { answer: utf8("thanks") }));
      await acknowledge(bench, first, { attempts: answered });
      await passTicks(bench, 3);
      await remove(bench, "answers", 2);
      const [attempt] = await outboxOf(bench).attempts(deliveryIn(first));
      alike([attempt?.outcome, attempt?.answer], ["acknowledged", undefined], "the attempt");
      await remove(bench, "attempts", 2);
      alike(await outboxOf(bench).attempts(deliveryIn(first)), [], "attempts");
      alike(await outboxOf(bench).deliveriesOf("default", ["e1"]), [], "deliveries that are told");
      alike(await eventsLeft(bench), ["e1"], "the events that are left");
    },
  },
  {
    name: "a cancelled delivery goes after its window, and is not told as delivered",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const first = await claimOne(bench);
      await fail(bench, first, 0);
      const again = await claimSoon(bench);
      await settled(bench, again, { rest: { state: "cancelled", because: "expired" } });
      const states = async (): Promise<string[]> =>
        (await outboxOf(bench).deliveriesOf("default", ["e1"])).map(({ state }) => state);
      alike(await states(), ["cancelled"], "how it stands");
      await passTicks(bench, 1);
      await remove(bench, "cancelled", 5);
      alike(await states(), ["cancelled"], "within its window");
      await passTicks(bench, 9);
      await remove(bench, "cancelled", 5);
      alike(await states(), [], "after its window");
      alike(await eventsLeft(bench), ["e1"], "the events that are left");
    },
  },
  {
    name: "a step looks at no more than its limit, and says where the pass goes on",
    async check(bench) {
      await addEndpoint(bench);
      const ids = ["e1", "e2", "e3", "e4", "e5"];
      await publish(bench, ids);
      await deliverAll(bench);
      await passTicks(bench, 3);
      const step = { kind: "events", windowMs: ticksMs(bench, 1), limit: 2 } as const;
      const one = await outboxOf(bench).removeOld(step);
      alike(await eventsLeft(bench), ["e3", "e4", "e5"], "the events after one step");
      holds(one.kind === "done" && one.next !== undefined, "The first step said that it was the last");
      const two = await outboxOf(bench, 1).removeOld({ ...step, limit: 9, after: one.next });
      alike(two.kind === "done" && two.next, undefined, "where the last step goes on");
      alike(await eventsLeft(bench), [], "the events in the end");
    },
  },
  {
    name: "retention tells what was removed and when a pass last reached its end",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await deliverAll(bench);
      await passTicks(bench, 3);
      const stateOf = async (kind: RetentionKind) =>
        (await outboxOf(bench, 1).retention()).kinds.find((each) => each.kind === kind);
      const before = await stateOf("events");
      same(before?.passedMs, undefined, "the last pass, before the first");
      holds((before?.oldestMs ?? 0) >= ticksMs(bench, 3), `The oldest event is ${before?.oldestMs} ms old`);
      await remove(bench, "events", 1);
      const after = await stateOf("events");
      holds((after?.removed ?? 0) >= 2, `An event and its attempt are gone, and ${after?.removed} are told`);
      holds(after?.passedMs !== undefined, "The end of the pass is not told");
      same(after?.oldestMs, undefined, "the oldest event, when none is left");
    },
  },
  {
    name: "an event that is published into a lane while it is removed is delivered",
    async check(bench) {
      await addEndpoint(bench);
      const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
      const delivered: string[] = [];
      for (const id of ids) {
        const publishing = publish(bench, [id], { key: `k${ids.indexOf(id) % 2}` });
        await Promise.all([publishing, removeAll(bench, 0, 1)]);
        delivered.push(await deliverAll(bench));
      }
      same(delivered.join(" "), ids.join(" "), "what was delivered");
    },
  },
];

async function eventsLeft(bench: OutboxBench): Promise<string[]> {
  const { items } = await outboxOf(bench).events({ tenant: "default" }, { limit: 100 });
  return items.map(({ id }) => id).toSorted();
}

/** One whole pass over a kind. */
async function remove(
  bench: OutboxBench,
  kind: RetentionKind,
  ticks: number,
  given: Partial<RemovalStep> & { readonly at?: number } = {},
): Promise<void> {
  const { at = 0, ...wish } = given;
  const windowMs = ticksMs(bench, ticks);
  for (let after: string | undefined; ;) {
    const removal = await outboxOf(bench, at).removeOld({ kind, windowMs, limit: 100, after, ...wish });
    holds(removal.kind === "done", "Another process removes what only this one should");
    if (removal.next === undefined) return;
    after = removal.next;
  }
}

const KINDS = ["answers", "attempts", "cancelled", "dead", "set_aside", "events", "ids"] as const;

async function removeAll(bench: OutboxBench, ticks: number, at = 0): Promise<void> {
  for (const kind of KINDS) await remove(bench, kind, ticks, { at, idWindowMs: ticksMs(bench, ticks) });
}
