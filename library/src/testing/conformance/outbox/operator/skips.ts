import type { Claim, NextState } from "../../../../lanes/lane-store.js";
import type { Skipped } from "../../../../operator/operator-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
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
  killNext,
  outboxOf,
  passLease,
  passTicks,
  publish,
  runOf,
  sequenceAll,
  settle,
  settled,
  ticksMs,
} from "../steps.js";

const RUN = { maxEvents: 3, maxBytes: 1_048_576 };

/** What a person passes over. */
export const outboxSkips: readonly OutboxPledge[] = [
  {
    name: "skip of a dead head lets its lane go on; its dead letter is listed no more, and can still be redriven at the end",
    async check(bench) {
      await addEndpoint(bench);
      for (const policy of ["halt", "park"] as const) {
        await publish(bench, ["e1", "e2"], { key: policy });
        const dead = await killNext(bench, policy);
        same(await skip(bench, dead, 1), "skipped", "skip");
        alike((await outboxOf(bench, 1).blockedLanes({ limit: 1 })).items, [], "what is blocked afterwards");
        alike((await outboxOf(bench).deadLetters({ limit: 1 })).items, [], "dead letters afterwards");
        const next = await claimOne(bench);
        alike([heads([next]), next.after], ["e2", undefined], "the head after it");
        await acknowledge(bench, next);
        same(await outboxOf(bench).redrive(deliveryIn(dead)), "at_end", "redrive");
        same(await outboxOf(bench).redrive(deliveryIn(dead)), "unknown", "a second redrive");
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
      same(await skipBehind(bench, first), "skipped", "skip");
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
      same(await skip(bench, head), "skipped", "skip");
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
      await skipBehind(bench, head);
      const third = await claimOne(bench);
      await skip(bench, third);
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
      same(await skip(bench, head, 1), "intended", "skip");
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
        same(await skip(bench, head), "intended", "skip");
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
      same(await skip(bench, head), "intended", "skip");
      await settled(bench, head, {});
      same(await deliverAll(bench), "e2", "what is delivered");
    },
  },
  {
    name: "a head that is to be skipped is skipped at once when its claim is released",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      same(await skip(bench, head), "intended", "skip");
      same(await outboxOf(bench).release("worker_1", []), 1, "release");
      // Before anybody claims: a second skip would find the head that it names.
      same(await skip(bench, head, 1), "unknown", "a second skip");
      const next = await claimOne(bench, { run: RUN });
      alike([runOf(next), next.after, next.attempts], ["e2 e3", undefined, 0], "the head after it");
      same(await historyOf(bench, deliveryIn(head)), "", "the attempts of what was skipped");
    },
  },
  {
    name: "skip of a head whose claim lapses holds when it is claimed again",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      same(await skip(bench, head), "intended", "skip");
      await passLease(bench);
      const next = await claimSoon(bench);
      alike([heads([next]), next.attempts, next.failures], ["e2", 0, 0], "the head after it");
      same((await settle(bench, head, { acknowledged: 1 })).kind, "stale", "the late settlement");
    },
  },
  {
    name: "a head whose lease has ended is skipped at once, under a new epoch, and its lapsed attempt is recorded",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      await passLease(bench);
      same(await skip(bench, head, 1), "skipped", "skip");
      same((await settle(bench, head, { acknowledged: 1 })).kind, "stale", "the worker's late settlement");
      same(await historyOf(bench, deliveryIn(head)), "1.1 lapsed", "the attempts of what was skipped");
      const next = await claimOne(bench, { run: RUN });
      alike([runOf(next), next.after, next.attempts], ["e2 e3", undefined, 0], "the head after it");
      holds(next.epoch > head.epoch + 1n, `The epoch is ${next.epoch}, after ${head.epoch} and a skip`);
    },
  },
  {
    name: "a head whose run has lapsed is skipped at once, and what else the run held goes by itself",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const run = await claimOne(bench, { run: RUN });
      same(runOf(run), "e1 e2 e3", "the run");
      await passLease(bench);
      same(await skip(bench, run), "skipped", "skip");
      same((await settle(bench, run, { acknowledged: 3 })).kind, "stale", "the worker's late settlement");
      same(await historyOf(bench, deliveryIn(run)), "", "the attempts of what was skipped");
      const next = await claimOne(bench, { run: RUN });
      alike([runOf(next), next.attempts], ["e2", 0], "the head after it");
    },
  },
  {
    name: "skip of a head that is under way holds also when that stops the endpoint",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      same(await skip(bench, head), "intended", "skip");
      const rest = { state: "disabled", because: "it answered 410" } as const;
      same(await settled(bench, head, { rest, next: true }), undefined, "the next head");
      const [endpoint] = await outboxOf(bench, 1).readEndpoints(["ep_a"]);
      alike([endpoint?.state, endpoint?.because], ["disabled", rest.because], "the endpoint");
      same(await skip(bench, head), "unknown", "a second skip");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "active", because: undefined });
      same(await deliverAll(bench), "e2", "what is delivered when it is active again");
    },
  },
  {
    name: "skip of an empty or unknown lane changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await acknowledge(bench, head);
      const { sequence } = head.run[0];
      same(await skipBehind(bench, head), "unknown", "skip of an empty lane");
      same(await outboxOf(bench).skip(head.id + 1000n, sequence), "unknown", "skip of no lane");
      same(await outboxOf(bench).skip(2n ** 62n, sequence), "unknown", "skip of a high number");
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
      same(await skip(bench, dead), "skipped", "skip");
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
      const head = claims.find(({ lane }) => lane?.key === "a");
      holds(head !== undefined, "The lane was not claimed");
      same(await skip(bench, head), "skipped", "skip");
      const delivered = (await deliverAll(bench)).split(" ").toSorted().join(" ");
      same(delivered, "a2 a3 b1", "what is delivered");
    },
  },
  {
    name: "skip of a head that is another by then changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const first = await claimOne(bench);
      await acknowledge(bench, first);
      same(await skip(bench, first), "unknown", "skip of the one before");
      const { sequence } = first.run[0];
      same(await outboxOf(bench).skip(first.id, sequence + 2n), "unknown", "skip of the one behind");
      same(await outboxOf(bench).skip(first.id, 2n ** 70n), "unknown", "skip of a high number");
      same(await deliverAll(bench), "e2 e3", "what is delivered");
    },
  },
  {
    name: "skip of another head than the one that is under way is not intended",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const first = await claimOne(bench);
      const second = await acknowledge(bench, first, { next: true });
      holds(second !== undefined, "There is no next head");
      same(await skip(bench, first, 1), "unknown", "skip of the one before");
      same(await skipBehind(bench, second), "unknown", "skip of the one behind");
      await fail(bench, second);
      await passTicks(bench, 2);
      same(await deliverAll(bench), "e2 e3", "what is delivered");
    },
  },
  {
    name: "a second skip of a head changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const dead = await killNext(bench, "halt");
      same(await skip(bench, dead), "skipped", "skip of a dead head");
      same(await skip(bench, dead, 1), "unknown", "the second");
      const waiting = await claimOne(bench);
      await settled(bench, waiting, {});
      same(await skip(bench, waiting), "skipped", "skip of a waiting head");
      same(await skip(bench, waiting, 1), "unknown", "the second");
      const underWay = await claimOne(bench);
      same(await skip(bench, underWay), "intended", "skip of a head that is under way");
      same(await skip(bench, underWay, 1), "intended", "the second");
      await fail(bench, underWay);
      same(await skip(bench, underWay), "unknown", "the third, when it has been passed over");
      same(await deliverAll(bench), "e4", "what is delivered");
    },
  },
  {
    name: "a second skip of a head whose claim was released passes over no other",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const head = await claimOne(bench);
      same(await skip(bench, head), "intended", "skip");
      same(await outboxOf(bench).release("worker_1", []), 1, "release");
      await skip(bench, head, 1);
      same(await deliverAll(bench), "e2 e3", "what is delivered");
    },
  },
  {
    name: "of several skips of one head at once, one counts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4", "e5"]);
      const dead = await killNext(bench, "halt");
      const answers = await Promise.all([0, 1, 0, 1].map((at) => skip(bench, dead, at)));
      alike(answers.toSorted(), ["skipped", "unknown", "unknown", "unknown"], "what they are told");
      same(await deliverAll(bench), "e2 e3 e4 e5", "what is delivered");
    },
  },
];

/** Skips the head of a claim. */
function skip(bench: OutboxBench, { id, run: [head] }: Claim, at = 0): Promise<Skipped> {
  return outboxOf(bench, at).skip(id, head.sequence);
}

/** Skips what stands behind the head of a claim. */
function skipBehind(bench: OutboxBench, { id, run: [head] }: Claim): Promise<Skipped> {
  return outboxOf(bench).skip(id, head.sequence + 1n);
}
