import type { RetryTarget } from "../../../../operator/operator-store.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  deliveryIn,
  fail,
  heads,
  killNext,
  outboxOf,
  passTicks,
  publish,
} from "../steps.js";

// Longer than any case takes: what is due before this was made due.
const LONG = 1000;

/** What a person says after a backup was restored. */
export const outboxRestores: readonly OutboxPledge[] = [
  {
    name: "raiseGenerations raises that of every lane, and of new ones, by the store's clock; sequences go on",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const before = await claimOne(bench);
      await acknowledge(bench, before);
      same(await outboxOf(bench, 1).raiseGenerations(), 1, "how many lanes there are");
      const after = await claimOne(bench);
      const [old = 0n, raised = 0n] = [before.lane?.generation, after.lane?.generation];
      holds(raised > old, `The generation was ${old} and is ${raised}`);
      holds(raised > 1_000_000_000n, `The generation ${raised} is not by the clock`);
      same(after.run[0].sequence, before.run[0].sequence + 1n, "the next sequence");
      await publish(bench, ["n1"], { key: "another" });
      same((await claimOne(bench)).lane?.generation, raised, "the generation of a new lane");
      await outboxOf(bench).raiseGenerations();
      await acknowledge(bench, after);
      await publish(bench, ["e3"]);
      const later = (await claimOne(bench)).lane?.generation ?? 0n;
      holds(later > raised, `A second call left ${raised} at ${later}`);
    },
  },
];

/** What a person wants tried now. */
export const outboxRetries: readonly OutboxPledge[] = [
  {
    name: "retry of an endpoint makes all that has failed there due now, each lane in its order, and nothing of another endpoint",
    async check(bench) {
      await addEndpoint(bench, { id: "ep_a", types: ["a"] });
      await addEndpoint(bench, { id: "ep_b", types: ["b"] });
      for (const key of ["k1", "k2"]) await publish(bench, [`${key}-1`, `${key}-2`], { key, type: "a" });
      await publish(bench, ["n1"], { key: undefined, type: "a" });
      await publish(bench, ["b1"], { type: "b" });
      for (const each of (await claim(bench)).claims) await fail(bench, each, LONG);
      await claimsNothing(bench, "before the retry");
      same(await retry(bench, { endpointId: "ep_a" }, 1), 3, "how many the retry says");
      const { claims } = await claim(bench);
      alike(heads(claims).split(" ").toSorted(), ["k1-1", "k2-1", "n1"], "what is due");
      for (const each of claims) await acknowledge(bench, each);
      alike((await deliverAll(bench)).split(" ").toSorted(), ["k1-2", "k2-2"], "what comes after it");
    },
  },
  {
    name: "retry keeps the failures and attempts of what it makes due",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await fail(bench, await claimOne(bench), 1);
      await passTicks(bench, 2);
      const second = await claimOne(bench);
      await fail(bench, second, LONG);
      same(await retry(bench, { laneId: second.id }), 1, "how many the retry says");
      const third = await claimOne(bench);
      alike([heads([third]), third.attempts, third.failures], ["e1", 2, 2], "the head");
      const [lane] = (await outboxOf(bench).blockedLanes({ limit: 1 })).items;
      alike([lane?.state, lane?.failures], ["retrying", 2], "the lane, which is still blocked");
    },
  },
  {
    name: "retry of a delivery makes it due where it is the head of its lane, and changes nothing where others are before it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const head = await claimOne(bench);
      await fail(bench, head, LONG);
      const id = deliveryIn(head);
      const behind = `dlv_${head.id}_${head.run[0].sequence + 1n}`;
      same(await retry(bench, { deliveryId: behind }), 0, "retry of the one behind");
      await claimsNothing(bench, "after the retry of the one behind");
      same(await retry(bench, { deliveryId: id }), 1, "retry of the head");
      same(await deliverAll(bench), "e1 e2", "what is delivered");
    },
  },
  {
    name: "retry of a delivery without a lane makes that one due, and no other",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["n1", "n2"], { key: undefined });
      const { claims } = await claim(bench);
      for (const each of claims) await fail(bench, each, LONG);
      const first = claims.find((each) => heads([each]) === "n1");
      same(await retry(bench, { deliveryId: first === undefined ? "" : deliveryIn(first) }), 1, "retry");
      same(await deliverAll(bench), "n1", "what is delivered");
    },
  },
  {
    name: "retry changes nothing that was never tried, is due already, is under way or is dead",
    async check(bench) {
      await addEndpoint(bench);
      const all = { endpointId: "ep_a" } as const;
      await publish(bench, ["e1", "e2"]);
      same(await retry(bench, all), 0, "retry of what is due");
      const head = await claimOne(bench);
      same(await retry(bench, all), 0, "retry of what is under way");
      await claimsNothing(bench, "what is under way");
      await acknowledge(bench, head);
      await killNext(bench);
      for (const target of [all, { laneId: head.id }])
        same(await retry(bench, target), 0, "retry of a dead head");
      await claimsNothing(bench, "a dead head");
    },
  },
  {
    name: "retry of what is not there changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      await fail(bench, head, LONG);
      const unknown: readonly RetryTarget[] = [
        { endpointId: "ep_none" },
        { laneId: head.id + 1000n },
        { laneId: 2n ** 70n },
        { deliveryId: "dlv_9999999" },
        { deliveryId: `dlv_${2n ** 62n}_1` },
        { deliveryId: "no delivery" },
      ];
      for (const target of unknown) same(await retry(bench, target), 0, "how many the retry says");
      await claimsNothing(bench, "after these");
    },
  },
];

function retry(bench: OutboxBench, target: RetryTarget, at = 0): Promise<number> {
  return outboxOf(bench, at).retry(target);
}
