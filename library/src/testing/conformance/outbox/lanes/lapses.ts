import { LAPSES_BEFORE_ALONE } from "../../../../lanes/lane.js";
import type { Claim } from "../../../../lanes/lane-store.js";
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
  outboxOf,
  passLease,
  passTicks,
  publish,
} from "../steps.js";

/** What claims promise whose process died. */
export const outboxLapses: readonly OutboxPledge[] = [
  {
    name: "a claim whose lease has ended writes a lapsed attempt, which spends no failure",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench);
      await passLease(bench);
      const again = (await claim(bench, { worker: "worker_2" })).claims;
      same(again.length, 2, "how many are claimed again");
      for (const each of again) {
        alike([each.attempts, each.failures], [1, 0], `attempts and failures of ${heads([each])}`);
        same(await historyOf(bench, deliveryIn(each)), "1.1 lapsed", `attempts of ${heads([each])}`);
      }
      const [attempt] = await outboxOf(bench).attempts(deliveryIn(claims[0] as Claim));
      const { status, error, answer } = attempt ?? {};
      alike(
        [status, error, answer],
        [undefined, undefined, undefined],
        "what the lapsed attempt says of the answer",
      );
    },
  },
  {
    name: "failures and lapses are counted apart",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await fail(bench, await claimOne(bench));
      await passTicks(bench, 2);
      await claimOne(bench);
      await passLease(bench);
      const head = await claimOne(bench);
      alike([head.attempts, head.failures], [2, 1], "attempts and failures");
      await fail(bench, head);
      same(await historyOf(bench, deliveryIn(head)), "1.1 refused, 1.2 lapsed, 1.3 refused", "its attempts");
    },
  },
  {
    name: "what lapsed three times is claimed alone",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await lapseUntilAlone(bench);
      const answer = await claim(bench);
      alike([heads(answer.claims), answer.lapsed], ["", true], "a claim beside others");
      await publish(bench, ["other"], { key: "other" });
      const other = await claim(bench);
      alike([heads(other.claims), other.lapsed], ["other", true], "a claim of its neighbour");
      const alone = await claim(bench, { alone: true });
      alike([heads(alone.claims), alone.lapsed], ["e1", false], "a claim alone");
      const [head] = alone.claims;
      holds(head !== undefined, "There is no claim");
      alike([head.attempts, head.failures, head.run.length], [LAPSES_BEFORE_ALONE, 0, 1], "what it is");
      same((await claim(bench)).lapsed, false, "whether something waits while it runs alone");
      await acknowledge(bench, head);
      same(await deliverAll(bench), "e2", "what is delivered after it");
    },
  },
  {
    name: "a claim alone asks for nothing but what lapsed three times, and for one",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["innocent"], { key: "innocent" });
      await claimsNothing(bench, "alone, where nothing lapsed", { alone: true });
      same((await claim(bench, { limit: 0 })).lapsed, false, "whether something lapsed");
      await acknowledge(bench, await claimOne(bench));
      await publish(bench, ["e1"], { key: "a" });
      await publish(bench, ["e2"], { key: "b" });
      await lapseUntilAlone(bench, 2);
      same((await claim(bench, { alone: true })).claims.length, 1, "how many are claimed alone");
    },
  },
  {
    name: "what waits to be claimed alone takes no place of another",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b", "c"]) await publish(bench, [key], { key });
      await lapseUntilAlone(bench, 3);
      await publish(bench, ["innocent"], { key: "innocent" });
      same(heads([await claimSoon(bench, { limit: 1 })]), "innocent", "a claim of one");
    },
  },
  {
    name: "what lapses while it runs alone is dead, and its lane halts",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["killer", "after"]);
      await lapseUntilAlone(bench);
      const killer = await claimSoon(bench, { alone: true });
      await passLease(bench);
      await claimsNothing(bench, "of a lane whose head has died");
      await claimsNothing(bench, "alone, of a lane whose head has died", { alone: true });
      const { items } = await outboxOf(bench).deadLetters({ limit: 10 });
      const [dead] = items;
      const { eventId, because, blocks, attempts } = dead ?? {};
      alike(
        [items.length, eventId, because, blocks, attempts],
        [1, "killer", "lease_expired", true, LAPSES_BEFORE_ALONE + 1],
        "the dead letter",
      );
      same(
        await historyOf(bench, deliveryIn(killer)),
        "1.1 lapsed, 1.2 lapsed, 1.3 lapsed, 1.4 lapsed",
        "its attempts",
      );
    },
  },
  {
    name: "what lapses while it runs alone lets its lane go on where the endpoint says skip",
    async check(bench) {
      await addEndpoint(bench, { dead: "skip" });
      await publish(bench, ["killer", "after"]);
      await lapseUntilAlone(bench);
      const killer = await claimSoon(bench, { alone: true });
      await passLease(bench);
      const next = await claimSoon(bench);
      alike([heads([next]), next.attempts, next.after], ["after", 0, undefined], "the head after it");
      const [dead] = (await outboxOf(bench).deadLetters({ limit: 10 })).items;
      alike([dead?.because, dead?.blocks], ["lease_expired", false], "the dead letter");
      same(dead?.id, deliveryIn(killer), "the dead letter's id");
    },
  },
  {
    name: "a delivery without a lane that lapses while it runs alone is dead",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["killer"], { key: undefined });
      await lapseUntilAlone(bench);
      await claimSoon(bench, { alone: true });
      await passLease(bench);
      await claimsNothing(bench, "of what is dead");
      const [dead] = (await outboxOf(bench).deadLetters({ limit: 10 })).items;
      alike([dead?.eventId, dead?.because], ["killer", "lease_expired"], "the dead letter");
    },
  },
  {
    name: "one that fails as often as it likes is never claimed alone",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      for (let n = 0; n <= LAPSES_BEFORE_ALONE; n++) {
        const answer = await claim(bench);
        alike([heads(answer.claims), answer.lapsed], ["e1", false], `claim ${n + 1}`);
        await fail(bench, answer.claims[0] as Claim);
        await passTicks(bench, 2);
      }
    },
  },
  {
    name: "an attempt that returns ends the count of lapses: the next one runs beside others",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      await lapseUntilAlone(bench, 2);
      for (let n = 0; n < 2; n++) await fail(bench, await claimSoon(bench, { alone: true }));
      await passTicks(bench, 2);
      for (let n = 0; n < LAPSES_BEFORE_ALONE; n++) {
        const { claims, lapsed } = await claim(bench);
        alike([claims.length, lapsed], [2, false], `claim ${n + 1} after attempts that returned`);
        await passLease(bench);
      }
      const { claims, lapsed } = await claim(bench);
      alike([heads(claims), lapsed], ["", true], "the claim after three further lapses");
    },
  },
  {
    name: "the lapses of one lane are nothing to another, nor to the events after it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["a1", "a2"], { key: "a" });
      await publish(bench, ["b1"], { key: "b" });
      const { claims } = await claim(bench);
      const innocent = claims.find(({ lane }) => lane?.key === "b");
      holds(innocent !== undefined, "The lane b was not claimed");
      await acknowledge(bench, innocent);
      await passLease(bench);
      const head = await claimOne(bench);
      alike([heads([head]), head.attempts], ["a1", 1], "the head that lapsed");
      const next = await acknowledge(bench, head, { next: true });
      alike([next && heads([next]), next?.attempts], ["a2", 0], "the event after it");
      same(
        await historyOf(bench, deliveryIn(innocent)),
        "1.1 acknowledged",
        "the attempts of the other lane",
      );
    },
  },
  {
    name: "a lapse is counted once, by whoever claims first",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await claimOne(bench);
      await passLease(bench);
      const answers = await Promise.all([0, 1, 2].map((at) => claim(bench, { at, worker: `worker_${at}` })));
      const claims = answers.flatMap((answer) => answer.claims);
      same(claims.length, 1, "how many claimed it");
      same(claims[0]?.attempts, 1, "its attempts");
      same(await historyOf(bench, deliveryIn(claims[0] as Claim)), "1.1 lapsed", "its attempts");
    },
  },
];

/** Claims so many and lets them lapse, until they may only be claimed alone. */
async function lapseUntilAlone(bench: OutboxBench, many = 1): Promise<void> {
  for (let n = 0; n < LAPSES_BEFORE_ALONE; n++) {
    const { claims, lapsed } = await claim(bench, { worker: `dying_${n}` });
    alike([claims.length, lapsed], [many, false], `claim ${n + 1} before it is claimed alone`);
    await passLease(bench);
  }
  const { claims, lapsed } = await claim(bench);
  alike([heads(claims), lapsed], ["", true], "the claim after three lapses");
}
