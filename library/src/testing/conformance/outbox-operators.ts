import type { NextState } from "../../delivery/delivery-store.js";
import type { BlockedLane } from "../../operator/operator-store.js";
import { alike, holds, same } from "./expectation.js";
import type { OutboxBench, OutboxPledge } from "./outbox-harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimSoon,
  claimsNothing,
  deliverAll,
  deliveryIn,
  fail,
  heads,
  historyOf,
  kill,
  killNext,
  listAll,
  outboxOf,
  passLease,
  passTicks,
  publish,
  sequenceAll,
  settle,
  settled,
  ticksMs,
} from "./outbox-steps.js";

/** What a person sees and does. */
export const outboxOperators: readonly OutboxPledge[] = [
  {
    name: "lanes that move are not blocked",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      alike(await blocked(bench), [], "while everything is due");
      const { claims } = await claim(bench);
      alike(await blocked(bench), [], "while everything is under way");
      for (const each of claims) await acknowledge(bench, each);
      alike(await blocked(bench), [], "after a success");
    },
  },
  {
    name: "a lane whose head has failed is listed as retrying, until it succeeds",
    async check(bench) {
      await addEndpoint(bench, { tenant: "acme" });
      await publish(bench, ["e1", "e2", "e3"], { tenant: "acme", key: "order 7" });
      const head = await claimOne(bench);
      await fail(bench, head, 10);
      await passTicks(bench, 2);
      const [lane, ...others] = await blocked(bench);
      same(others.length, 0, "how many more lanes are blocked");
      holds(lane !== undefined, "No lane is blocked");
      const { blockedMs, dueInMs, ...facts } = lane;
      alike(
        facts,
        {
          id: head.id,
          tenant: "acme",
          endpointId: "ep_a",
          key: "order 7",
          state: "retrying",
          depth: 3n,
          head: head.run[0].sequence,
          headEventId: "e1",
          failures: 1,
        },
        "the lane",
      );
      about(blockedMs, ticksMs(bench, 2), "blockedMs");
      holds(dueInMs !== undefined, "It does not say when it is due");
      about(dueInMs, ticksMs(bench, 8), "dueInMs");
      await passTicks(bench, 9);
      await fail(bench, await claimOne(bench), 10);
      const [later] = await blocked(bench);
      same(later?.failures, 2, "failures after the second");
      about(later?.blockedMs ?? 0, ticksMs(bench, 11), "blockedMs after the second failure");
      await passTicks(bench, 11);
      await acknowledge(bench, await claimOne(bench));
      alike(await blocked(bench), [], "after it succeeded");
    },
  },
  {
    name: "a lane whose head is dead is listed as halted or parked, and is never due",
    async check(bench) {
      await addEndpoint(bench);
      for (const [policy, state] of [
        ["halt", "halted"],
        ["park", "parked"],
      ] as const) {
        await publish(bench, [`${policy}1`, `${policy}2`], { key: policy });
        await killNext(bench, policy);
        const lane = (await blocked(bench)).find(({ key }) => key === policy);
        const seen = [lane?.state, lane?.depth, lane?.headEventId, lane?.dueInMs];
        alike(seen, [state, 2n, `${policy}1`, undefined], "the lane");
      }
    },
  },
  {
    name: "a lane that went on after a dead delivery is not blocked",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const each of (await claim(bench)).claims) await kill(bench, each, "skip");
      alike(await blocked(bench), [], "what is blocked");
    },
  },
  {
    name: "lanes whose endpoint is stopped are listed with its state",
    async check(bench) {
      for (const state of ["paused", "disabled"] as const) {
        await addEndpoint(bench, { id: `ep_${state}`, types: [state] });
        await publish(bench, [`${state}1`, `${state}2`], { key: state, type: state });
        await outboxOf(bench).changeEndpoint(`ep_${state}`, { state });
        await passTicks(bench, 2);
        const lane = (await blocked(bench)).find(({ key }) => key === state);
        alike([lane?.state, lane?.depth, lane?.headEventId], [state, 2n, `${state}1`], "the lane");
        about(lane?.blockedMs ?? 0, ticksMs(bench, 2), "blockedMs");
        await outboxOf(bench).changeEndpoint(`ep_${state}`, { state: "active" });
        alike(await blocked(bench), [], "when the endpoint is active again");
        await deliverAll(bench);
      }
    },
  },
  {
    name: "blocked lanes are listed longest blocked first, page by page",
    async check(bench) {
      await addEndpoint(bench);
      const keys = ["c", "a", "e", "b", "d"];
      for (const key of keys) {
        await publish(bench, [key], { key });
        await fail(bench, await claimOne(bench), 1000);
        await passTicks(bench, 1);
      }
      for (const limit of [100, 2, 3]) {
        const listed = (await blocked(bench, limit)).map(({ key }) => key);
        alike(listed, keys, `pages of ${limit}`);
      }
    },
  },
  {
    name: "skip of a dead head lets its lane go on, and the dead letter can still be redriven at the end",
    async check(bench) {
      await addEndpoint(bench);
      for (const policy of ["halt", "park"] as const) {
        await publish(bench, ["e1", "e2"], { key: policy });
        const dead = await killNext(bench, policy);
        same(await outboxOf(bench, 1).skip(dead.id), "skipped", "skip");
        alike(await blocked(bench), [], "what is blocked afterwards");
        const [letter] = (await outboxOf(bench).deadLetters({ limit: 1 })).items;
        alike([letter?.eventId, letter?.blocks], ["e1", false], "the dead letter");
        const next = await claimOne(bench);
        alike([heads([next]), next.after], ["e2", undefined], "the head after it");
        await acknowledge(bench, next);
        same(await outboxOf(bench).redrive(letter?.id ?? ""), "at_end", "redrive");
        await sequenceAll(bench);
        same(await deliverAll(bench), "e1", "what is delivered");
      }
    },
  },
  {
    name: "skip of a waiting head passes over it, and the gap is told on the wire",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const first = await claimOne(bench);
      await acknowledge(bench, first);
      same(await outboxOf(bench).skip(first.id), "skipped", "skip");
      const next = await claimOne(bench);
      alike([heads([next]), next.after], ["e3", first.run[0].sequence], "the head after it");
      alike((await outboxOf(bench).deadLetters({ limit: 1 })).items, [], "dead letters");
    },
  },
  {
    name: "skip of a head that waits for its next attempt lets its lane go on at once",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      await fail(bench, head, 1000);
      same(await outboxOf(bench).skip(head.id), "skipped", "skip");
      const next = await claimOne(bench);
      alike([heads([next]), next.attempts, next.failures], ["e2", 0, 0], "the head after it");
    },
  },
  {
    name: "what was skipped is recorded",
    needs: ["cancelledListing"],
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      await acknowledge(bench, head);
      await outboxOf(bench).skip(head.id);
      const third = await claimOne(bench);
      await outboxOf(bench).skip(head.id);
      await fail(bench, third);
      const cancelled = (await bench.cancelled?.()) ?? [];
      alike(
        cancelled.map(({ eventId, because }) => `${eventId} ${because}`).toSorted(),
        ["e2 skipped", "e3 skipped"],
        "what is cancelled",
      );
    },
  },
  {
    name: "skip of a head that is under way is intended: it is not skipped if that succeeds",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      same(await outboxOf(bench, 1).skip(head.id), "intended", "skip");
      await claimsNothing(bench, "beside the head that is under way");
      const next = await acknowledge(bench, head, { next: true });
      holds(next !== undefined, "There is no next head");
      alike([heads([next]), next.after], ["e2", head.run[0].sequence], "the head after it");
      await fail(bench, next);
      await passTicks(bench, 2);
      same(await deliverAll(bench), "e2 e3", "what is delivered after it");
    },
  },
  {
    name: "skip of a head that is under way holds as soon as that does not succeed",
    async check(bench) {
      await addEndpoint(bench);
      const states: readonly NextState[] = [
        { state: "due", afterMs: ticksMs(bench, 1000), counts: true },
        { state: "dead", because: "exhausted", policy: "halt" },
      ];
      for (const rest of states) {
        await publish(bench, ["e1", "e2"], { key: rest.state });
        const head = await claimOne(bench);
        same(await outboxOf(bench).skip(head.id), "intended", "skip");
        const next = await settled(bench, head, { rest, next: true });
        const after = next ?? (await claimOne(bench));
        alike([heads([after]), after.after, after.attempts], ["e2", undefined, 0], `after ${rest.state}`);
        same(await historyOf(bench, deliveryIn(head)), "1.1 refused", "the attempts of what was skipped");
        alike((await outboxOf(bench).deadLetters({ limit: 1 })).items, [], "dead letters");
        await fail(bench, after, 1);
        await passTicks(bench, 2);
        same(await deliverAll(bench), "e2", "what is delivered");
      }
    },
  },
  {
    name: "skip of a head that is given back untried holds at once",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      same(await outboxOf(bench).skip(head.id), "intended", "skip");
      await settled(bench, head, {});
      same(await deliverAll(bench), "e2", "what is delivered");
    },
  },
  {
    name: "skip of a head whose claim is released holds when it is claimed again",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      same(await outboxOf(bench).skip(head.id), "intended", "skip");
      same(await outboxOf(bench).release("worker_1", []), 1, "release");
      const next = await claimSoon(bench);
      alike([heads([next]), next.after], ["e2", undefined], "the head after it");
    },
  },
  {
    name: "skip of a head whose claim lapses holds when it is claimed again",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      same(await outboxOf(bench).skip(head.id), "intended", "skip");
      await passLease(bench);
      const next = await claimSoon(bench);
      alike([heads([next]), next.attempts, next.failures], ["e2", 0, 0], "the head after it");
      same((await settle(bench, head, { acknowledged: 1 })).kind, "stale", "the late settlement");
    },
  },
  {
    name: "skip of an empty or unknown lane changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await acknowledge(bench, head);
      same(await outboxOf(bench).skip(head.id), "unknown", "skip of an empty lane");
      same(await outboxOf(bench).skip(head.id + 1000n), "unknown", "skip of no lane");
      same(await outboxOf(bench).skip(2n ** 62n), "unknown", "skip of a high number");
      await publish(bench, ["e2"]);
      same(await deliverAll(bench), "e2", "what is delivered afterwards");
    },
  },
  {
    name: "skip of the only delivery of a lane leaves it empty, and the next event starts it again",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const dead = await killNext(bench, "halt");
      same(await outboxOf(bench).skip(dead.id), "skipped", "skip");
      await claimsNothing(bench, "of an empty lane");
      await publish(bench, ["e2"]);
      const next = await claimOne(bench);
      alike([heads([next]), next.after], ["e2", undefined], "the next head");
      same(next.run[0].sequence, dead.run[0].sequence + 1n, "its sequence");
    },
  },
  {
    name: "skip passes over one head, and touches no other lane",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["a1", "a2", "a3"], { key: "a" });
      await publish(bench, ["b1"], { key: "b" });
      const { claims } = await claim(bench);
      for (const each of claims) await settled(bench, each, {});
      const lane = claims.find(({ lane: its }) => its?.key === "a");
      same(await outboxOf(bench).skip(lane?.id ?? 0n), "skipped", "skip");
      const delivered = (await deliverAll(bench)).split(" ").toSorted().join(" ");
      same(delivered, "a2 a3 b1", "what is delivered");
    },
  },
];

/** All blocked lanes, by pages of this size. */
function blocked(bench: OutboxBench, limit = 100): Promise<readonly BlockedLane[]> {
  return listAll((page) => outboxOf(bench, 1).blockedLanes(page), limit);
}

/** Within a tenth and two seconds: the case itself takes some time. */
function about(found: number, ms: number, what: string): void {
  holds(Math.abs(found - ms) <= ms / 10 + 2000, `${what} is ${found}, not about ${ms}`);
}
