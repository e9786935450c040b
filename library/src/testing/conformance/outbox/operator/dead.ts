import { DEAD_REASONS } from "../../../../lanes/dead.js";
import type { DeadBecause } from "../../../../lanes/dead.js";
import { ENDPOINTS } from "../../../../lanes/lane-store.js";
import type { Claim } from "../../../../lanes/lane-store.js";
import type { DeadLetter } from "../../../../operator/operator-store.js";
import { alike, holds, same, soon } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  dateAfter,
  deliverAll,
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
  settled,
  ticksMs,
} from "../steps.js";

/** What the dead promise, and how they come back. */
export const outboxDead: readonly OutboxPledge[] = [
  ...(["halt", "park"] as const).map((policy): OutboxPledge => ({
    name: `a dead delivery under ${policy} stops its lane and no other: later events wait`,
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const dead = await killNext(bench, policy);
      await publish(bench, ["e3"]);
      await publish(bench, ["other"], { key: "other" });
      same(await deliverAll(bench), "other", "what is delivered beside it");
      const letter = await onlyDead(bench);
      same(letter.sequence, dead.run[0].sequence, "the dead letter's sequence");
      same(letter.blocks, true, "whether its lane waits for it");
      same(await outboxOf(bench).untilDue(ENDPOINTS), undefined, "untilDue");
    },
  })),
  {
    name: "a dead delivery under skip lets its lane go on past the gap",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3"]);
      const first = await claimOne(bench);
      await acknowledge(bench, first);
      await killNext(bench, "skip");
      const third = await claimOne(bench);
      alike([heads([third]), third.after], ["e3", first.run[0].sequence], "the head after the gap");
      alike([third.attempts, third.failures], [0, 0], "what it went through");
      same((await onlyDead(bench)).blocks, false, "whether its lane waits for it");
    },
  },
  {
    name: "a dead delivery without a lane stops nothing, whatever the policy",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["n1", "n2"], { key: undefined });
      const { claims } = await claim(bench);
      const [one, two] = claims;
      holds(one !== undefined && two !== undefined, "There are not two claims");
      await kill(bench, one, "halt");
      await acknowledge(bench, two);
      await claimsNothing(bench, "of what is dead");
      const letter = await onlyDead(bench);
      const { eventId, key, sequence, blocks } = letter;
      alike([eventId, key, sequence, blocks], [heads([one]), undefined, undefined, false], "the dead letter");
    },
  },
  {
    name: "a dead letter says what died, where, why and after how many attempts",
    async check(bench) {
      await addEndpoint(bench, { tenant: "acme" });
      await publish(bench, ["e1"], { tenant: "acme", key: "order 7", type: "order.paid" });
      await fail(bench, await claimOne(bench));
      await passTicks(bench, 2);
      const head = await claimOne(bench);
      await kill(bench, head);
      const { id, number: _number, diedAt, ...letter } = await onlyDead(bench);
      alike(
        letter,
        {
          laneId: head.id,
          tenant: "acme",
          endpointId: "ep_a",
          key: "order 7",
          sequence: head.run[0].sequence,
          eventId: "e1",
          type: "order.paid",
          round: 1,
          because: "exhausted",
          attempts: 2,
          lastStatus: 500,
          lastError: undefined,
          blocks: true,
        },
        "the dead letter",
      );
      const agoMs = (await dateAfter(bench, 0)).getTime() - diedAt.getTime();
      holds(Math.abs(agoMs) < ticksMs(bench, 0.25), `It says that it died ${agoMs} ms ago`);
      same(await historyOf(bench, id), "1.1 refused, 1.2 refused", "the attempts by the dead letter's id");
    },
  },
  {
    name: "a dead letter tells what the attempt by which it died came to, and nothing where it died without one",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const each of (await claim(bench)).claims) await fail(bench, each);
      await passTicks(bench, 2);
      for (const each of (await claim(bench)).claims) {
        await settled(bench, each, {
          rest: { state: "dead", because: "unsendable", policy: "halt" },
          attempts: [],
        });
      }
      const { items } = await outboxOf(bench).deadLetters({ limit: 10 });
      const told = items.map(({ eventId, attempts, lastStatus }) => `${eventId} ${attempts} ${lastStatus}`);
      alike(told.toSorted(), ["e1 1 undefined", "n1 1 undefined"], "the dead letters");
    },
  },
  {
    name: "every reason to die is kept",
    async check(bench) {
      await addEndpoint(bench);
      for (const because of Object.keys(DEAD_REASONS) as DeadBecause[]) {
        await publish(bench, [because]);
        const rest = { state: "dead", because, policy: "skip" } as const;
        await settled(bench, await claimOne(bench), { rest, attempts: [] });
        const [newest] = (await outboxOf(bench).deadLetters({ limit: 1 })).items;
        alike([newest?.eventId, newest?.because, newest?.attempts], [because, because, 0], "the dead letter");
      }
    },
  },
  {
    name: "dead letters are listed newest first, page by page",
    async check(bench) {
      await addEndpoint(bench);
      const ids = ["e1", "e2", "e3", "e4", "e5"];
      await publish(bench, ids);
      await publish(bench, ["n1"], { key: undefined });
      for (let n = 0; n < ids.length + 1; n++) {
        await kill(bench, await claimOne(bench, { limit: 1 }), "skip");
        await passTicks(bench, 1);
      }
      const all = await listDead(bench, 100);
      same(all.length, 6, "how many are listed");
      alike(
        all.filter((id) => id !== "n1"),
        ids.toReversed(),
        "those of the lane",
      );
      alike(await listDead(bench, 2), all, "pages of two");
      alike(await listDead(bench, 3), all, "pages of three");
    },
  },
  {
    name: "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
    async check(bench) {
      await addEndpoint(bench);
      for (const policy of ["halt", "park"] as const) {
        await publish(bench, ["e1", "e2"], { key: policy });
        await fail(bench, await claimOne(bench));
        await passTicks(bench, 2);
        const dead = await killNext(bench, policy);
        const { id } = await onlyDead(bench);
        same(await outboxOf(bench, 1).redrive(id), "in_place", "redrive");
        alike((await outboxOf(bench).deadLetters({ limit: 10 })).items, [], "dead letters afterwards");
        const head = await claimOne(bench);
        const { sequence, round, event } = head.run[0];
        alike([event.id, sequence, round], ["e1", dead.run[0].sequence, 2], "the head");
        alike([head.attempts, head.failures, head.after], [0, 0, dead.after], "what it went through");
        await acknowledge(bench, head);
        same(
          await historyOf(bench, id),
          "1.1 refused, 1.2 refused, 2.1 acknowledged",
          "its attempts of both rounds",
        );
        same(await deliverAll(bench), "e2", "what is delivered after it");
      }
    },
  },
  {
    name: "a dead letter whose lane went on is redriven at the end of the lane",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const dead = await killNext(bench, "skip");
      const { id } = await onlyDead(bench);
      same(await outboxOf(bench, 1).redrive(id), "at_end", "redrive");
      await publish(bench, ["e3"]);
      alike((await outboxOf(bench).deadLetters({ limit: 10 })).items, [], "dead letters afterwards");
      const second = await claimOne(bench);
      same(heads([second]), "e2", "the head");
      await acknowledge(bench, second);
      const again = await claimOne(bench);
      const { event, round, sequence } = again.run[0];
      alike([event.id, round, sequence], ["e1", 2, second.run[0].sequence + 1n], "what follows");
      same(again.id, dead.id, "its lane");
      await acknowledge(bench, again);
      same(await deliverAll(bench), "e3", "what is delivered after it");
      same(await historyOf(bench, id), "1.1 refused", "the attempts of the first round");
    },
  },
  {
    name: "a dead letter without a lane is redriven in a new round",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["n1"], { key: undefined });
      await fail(bench, await claimOne(bench));
      await passTicks(bench, 2);
      await killNext(bench, "skip");
      same(await outboxOf(bench).redrive((await onlyDead(bench)).id), "at_end", "redrive");
      await sequenceAll(bench);
      const again = await claimOne(bench);
      alike(
        [heads([again]), again.run[0].round, again.attempts, again.failures],
        ["n1", 2, 0, 0],
        "what is due again",
      );
      await acknowledge(bench, again);
      await claimsNothing(bench, "after it was delivered");
    },
  },
  {
    name: "a redriven delivery stays in its round, whether its claims are released, fail or lapse",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const each of (await claim(bench)).claims) await kill(bench, each);
      const { items } = await outboxOf(bench).deadLetters({ limit: 10 });
      for (const { id } of items) await outboxOf(bench).redrive(id);
      await sequenceAll(bench);
      await claimRound(bench, 2, "redriven");
      same(await outboxOf(bench).release("worker_1", []), 2, "release");
      for (const each of await claimRound(bench, 2, "released")) await fail(bench, each);
      await passTicks(bench, 2);
      await claimRound(bench, 2, "failed");
      await passLease(bench);
      await claimRound(bench, 2, "lapsed");
      for (const { id } of items) {
        same(await historyOf(bench, id), "1.1 refused, 2.1 refused, 2.2 lapsed", `the attempts of ${id}`);
      }
    },
  },
  {
    name: "a second redrive changes nothing",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["halted"], { key: "halted" });
      await killNext(bench, "halt");
      await publish(bench, ["skipped"], { key: "skipped" });
      await killNext(bench, "skip");
      await publish(bench, ["loose"], { key: undefined });
      await killNext(bench, "skip");
      const { items } = await outboxOf(bench).deadLetters({ limit: 10 });
      for (const { id, eventId } of items) {
        const both = [0, 1].map((at) => outboxOf(bench, at).redrive(id));
        const answers = await soon(Promise.all(both), "two redrives at once", bench.patienceMs);
        same(answers.filter((each) => each === "unknown").length, 1, `how many found no ${eventId}`);
        same(await outboxOf(bench).redrive(id), "unknown", "a redrive after them");
      }
      await sequenceAll(bench);
      const delivered = (await deliverAll(bench)).split(" ").toSorted().join(" ");
      same(delivered, "halted loose skipped", "what is delivered");
      for (const { id } of items)
        same(await outboxOf(bench).redrive(id), "unknown", "redrive when delivered");
      await sequenceAll(bench);
      await claimsNothing(bench, "after everything was delivered");
    },
  },
  {
    name: "redrive knows only the dead",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await acknowledge(bench, await claimOne(bench));
      const { id, run } = await claimOne(bench);
      const delivered = `dlv_${id}_${run[0].sequence - 1n}`;
      for (const each of [delivered, `dlv_${id}_${run[0].sequence}`, `dlv_${id}`, ...NO_DELIVERIES]) {
        same(await outboxOf(bench).redrive(each), "unknown", `redrive of ${each}`);
      }
    },
  },
  {
    name: "a redriven delivery that dies again is a dead letter of its new round, and can be redriven again",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await killNext(bench, "halt");
      await outboxOf(bench).redrive((await onlyDead(bench)).id);
      await killNext(bench, "halt");
      const letter = await onlyDead(bench);
      alike([letter.eventId, letter.round, letter.attempts], ["e1", 2, 1], "the dead letter");
      same(await outboxOf(bench).redrive(letter.id), "in_place", "redrive");
      same((await claimOne(bench)).run[0].round, 3, "the round");
    },
  },
  {
    name: "one that is redriven at the end and dies again is a dead letter of its new place",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await killNext(bench, "skip");
      const first = await onlyDead(bench);
      await outboxOf(bench).redrive(first.id);
      await sequenceAll(bench);
      await killNext(bench, "halt");
      const second = await onlyDead(bench);
      alike([second.eventId, second.round, second.blocks], ["e1", 2, true], "the dead letter");
      holds(second.id !== first.id, "It has the id of its first place");
      same(await outboxOf(bench).redrive(first.id), "unknown", "redrive of its first place");
      same(await outboxOf(bench).redrive(second.id), "in_place", "redrive");
    },
  },
  {
    name: "what is redriven at an endpoint that is paused waits until that is active",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await killNext(bench, "halt");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "paused" });
      same(await outboxOf(bench).redrive((await onlyDead(bench)).id), "in_place", "redrive");
      await claimsNothing(bench, "of a paused endpoint");
      await outboxOf(bench).changeEndpoint("ep_a", { state: "active" });
      same(await deliverAll(bench), "e1", "what is delivered");
    },
  },
  {
    name: "the dead letters of an endpoint that was removed are listed no more, and cannot be redriven",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await killNext(bench, "halt");
      await publish(bench, ["n1"], { key: undefined });
      await killNext(bench, "skip");
      const { items } = await outboxOf(bench).deadLetters({ limit: 10 });
      same(items.length, 2, "how many there were");
      await outboxOf(bench).removeEndpoint("ep_a");
      alike((await outboxOf(bench, 1).deadLetters({ limit: 10 })).items, [], "dead letters afterwards");
      await addEndpoint(bench);
      alike(
        (await outboxOf(bench).deadLetters({ limit: 10 })).items,
        [],
        "those of a new endpoint of this id",
      );
      for (const { id } of items) same(await outboxOf(bench).redrive(id), "unknown", `redrive of ${id}`);
      await sequenceAll(bench);
      await claimsNothing(bench, "of what died before");
    },
  },
];

const NO_DELIVERIES = ["", "dlv_", "dlv_99999", "dlv_1_99999", "dlv_-1", "evt_1", "' or '1'='1", "dlv_1_1_1"];

async function onlyDead(bench: OutboxBench): Promise<DeadLetter> {
  const { items } = await outboxOf(bench, 1).deadLetters({ limit: 10 });
  const [letter] = items;
  holds(letter !== undefined && items.length === 1, `There are ${items.length} dead letters, not one`);
  return letter;
}

/** Claims both deliveries, which have to be in this round. */
async function claimRound(bench: OutboxBench, round: number, when: string): Promise<readonly Claim[]> {
  const { claims } = await claim(bench);
  alike(
    claims.map(({ run }) => run[0].round),
    [round, round],
    `the rounds when they were ${when}`,
  );
  return claims;
}

/** The event ids of all dead letters, by pages of this size. */
async function listDead(bench: OutboxBench, limit: number): Promise<readonly string[]> {
  const letters = await listAll((page) => outboxOf(bench).deadLetters(page), limit);
  return letters.map(({ eventId }) => eventId);
}
